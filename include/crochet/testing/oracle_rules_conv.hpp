// SPDX-License-Identifier: Apache-2.0
// The oracle's rules of operations with a sliding window: convolutions and pooling.
#pragma once
#include <limits>

#include <crochet/graph/ops/conv.hpp>
#include <crochet/graph/ops/depthwise.hpp>
#include <crochet/graph/ops/pool.hpp>
#include <crochet/testing/oracle_array.hpp>

namespace crochet::testing {

namespace detail {

/// The padding before the first of `places` windows of `reach` elements.
inline std::int64_t padding_before(std::int64_t places, std::int64_t reach, std::int64_t stride, std::int64_t size) {
  const std::int64_t all = (places - 1) * stride + reach - size;
  return all > 0 ? all / 2 : 0;
}
/// Visits (pixel of the image, pixel of the result, index in the window) wherever a window covers the image.
template <class Visit>
void each_tap(const Attributes& a, const Array& image, const Array& result, Visit visit) {
  const std::int64_t h = image.shape[1], w = image.shape[2], oh = result.shape[1], ow = result.shape[2];
  const std::int64_t top = padding_before(oh, (a.ints[0] - 1) * a.ints[5] + 1, a.ints[2], h),
                     left = padding_before(ow, (a.ints[1] - 1) * a.ints[6] + 1, a.ints[3], w);
  for (std::int64_t n = 0; n < image.shape[0]; ++n) {
    for (std::int64_t place = 0; place < oh * ow; ++place) {
      for (std::int64_t tap = 0; tap < a.ints[0] * a.ints[1]; ++tap) {
        const std::int64_t y = place / ow * a.ints[2] + tap / a.ints[1] * a.ints[5] - top;
        const std::int64_t x = place % ow * a.ints[3] + tap % a.ints[1] * a.ints[6] - left;
        if (y < 0 || y >= h || x < 0 || x >= w) continue;
        visit(static_cast<std::size_t>((n * h + y) * w + x), static_cast<std::size_t>(n * oh * ow + place),
              static_cast<std::size_t>(tap));
      }
    }
  }
}
/// A convolution and its gradients are the same sum: image[pixel, c] filter[tap, c, k] out[place, k].
template <class Add>
void each_product(const Attributes& a, const Array& image, const Array& filter, const Array& result, Add add) {
  const auto channels = static_cast<std::size_t>(filter.shape[2]), filters = static_cast<std::size_t>(filter.shape[3]);
  each_tap(a, image, result, [&](std::size_t pixel, std::size_t place, std::size_t tap) {
    for (std::size_t c = 0; c < channels; ++c) {
      for (std::size_t k = 0; k < filters; ++k) {
        add(pixel * channels + c, (tap * channels + c) * filters + k, place * filters + k);
      }
    }
  });
}
inline void conv2d(const Use& u) {
  const Array &image = *u.in[0], &filter = *u.in[1];
  each_product(u.attributes, image, filter, u.out,
               [&](std::size_t i, std::size_t f, std::size_t o) { u.out.data[o] += image.data[i] * filter.data[f]; });
}
/// Element (tap, c, k) of the filter becomes element (last tap - tap, k, c).
inline void turned_filter(const Use& u) {
  const Array& filter = *u.in[0];
  const auto c = static_cast<std::size_t>(filter.shape[2]), k = static_cast<std::size_t>(filter.shape[3]);
  const std::size_t taps = filter.data.size() / (c * k);
  for (std::size_t i = 0; i < filter.data.size(); ++i) {
    u.out.data[((taps - 1 - i / (c * k)) * k + i % k) * c + i / k % c] = filter.data[i];
  }
}
inline void conv2d_image_gradient(const Use& u) {
  // Reversed twice it is the filter again.
  Array filter = *u.in[0];
  std::swap(filter.shape[2], filter.shape[3]);
  turned_filter({u.attributes, {u.in[0]}, filter, u.dims});
  each_product(u.attributes, u.out, filter, *u.in[1], [&](std::size_t i, std::size_t f, std::size_t o) {
    u.out.data[i] += filter.data[f] * u.in[1]->data[o];
  });
}
/// The sum of a depthwise convolution: image[pixel, c] filter[tap, c, q] out[place, c * m + q].
template <class Add>
void each_depthwise_product(const Attributes& a, const Array& image, const Array& filter, const Array& result,
                            Add add) {
  const auto all = static_cast<std::size_t>(result.shape[3]), times = static_cast<std::size_t>(filter.shape[3]);
  each_tap(a, image, result, [&](std::size_t pixel, std::size_t place, std::size_t tap) {
    for (std::size_t k = 0; k < all; ++k) add((pixel * all + k) / times, tap * all + k, place * all + k);
  });
}
inline void depthwise_conv2d(const Use& u) {
  const Array &image = *u.in[0], &filter = *u.in[1];
  each_depthwise_product(u.attributes, image, filter, u.out, [&](std::size_t i, std::size_t f, std::size_t o) {
    u.out.data[o] += image.data[i] * filter.data[f];
  });
}
inline void depthwise_image_gradient(const Use& u) {
  const Array &filter = *u.in[0], &up = *u.in[1];
  each_depthwise_product(u.attributes, u.out, filter, up, [&](std::size_t i, std::size_t f, std::size_t o) {
    u.out.data[i] += filter.data[f] * up.data[o];
  });
}
inline void depthwise_filter_gradient(const Use& u) {
  const Array &image = *u.in[0], &up = *u.in[1];
  each_depthwise_product(u.attributes, image, u.out, up, [&](std::size_t i, std::size_t f, std::size_t o) {
    u.out.data[f] += image.data[i] * up.data[o];
  });
}

/// The first maximum of each window, for every place and channel of `result`: visits (element of the image, element of
/// the result, index in the window).
template <class Visit>
void each_winner(const Attributes& a, const Array& image, const Array& result, Visit visit) {
  const auto channels = static_cast<std::size_t>(image.shape[3]);
  const std::size_t none = image.data.size();
  std::vector<std::size_t> best(result.data.size(), none), taps(result.data.size());
  each_tap(a, image, result, [&](std::size_t pixel, std::size_t place, std::size_t tap) {
    for (std::size_t c = 0; c < channels; ++c) {
      std::size_t& b = best[place * channels + c];
      const std::size_t i = pixel * channels + c;
      const bool wins = b == none || image.data[i] > image.data[b];
      if (!wins) continue;
      b = i;
      taps[place * channels + c] = tap;
    }
  });
  for (std::size_t i = 0; i < best.size(); ++i) visit(best[i], i, taps[i]);
}
inline void max_pool(const Use& u) {
  const auto channels = static_cast<std::size_t>(u.out.shape[3]);
  for (double& x : u.out.data) x = -std::numeric_limits<double>::infinity();
  each_tap(u.attributes, *u.in[0], u.out, [&](std::size_t pixel, std::size_t place, std::size_t) {
    for (std::size_t c = 0; c < channels; ++c) {
      const double x = u.in[0]->data[pixel * channels + c];
      double& top = u.out.data[place * channels + c];
      top = x > top || x != x ? x : top;
    }
  });
}
inline void max_pool_winners(const Use& u) {
  each_winner(u.attributes, *u.in[0], u.out,
              [&](std::size_t, std::size_t o, std::size_t tap) { u.out.data[o] = static_cast<double>(tap); });
}
inline void max_pool_gradient(const Use& u) {
  const Array &up = *u.in[0], &winners = *u.in[1];
  const auto channels = static_cast<std::size_t>(up.shape[3]);
  each_tap(u.attributes, u.out, up, [&](std::size_t pixel, std::size_t place, std::size_t tap) {
    for (std::size_t c = 0; c < channels; ++c) {
      if (winners.data[place * channels + c] == static_cast<double>(tap)) {
        u.out.data[pixel * channels + c] += up.data[place * channels + c];
      }
    }
  });
}
inline void conv2d_filter_gradient(const Use& u) {
  const Array& image = *u.in[0];
  Array up = *u.in[1];
  if (u.in.size() == 3) {  // behind a pooling
    const std::int32_t height = u.attributes.ints[7] >> 16, width = u.attributes.ints[7] & 0xffff;
    const Attributes pool{.ints = {height, width, height, width, 0, 1, 1}};
    up.shape = {up.shape[0], up.shape[1] * height, up.shape[2] * width, up.shape[3]};
    up.data.assign(up.data.size() * static_cast<std::size_t>(height * width), 0);
    max_pool_gradient({pool, {u.in[1], u.in[2]}, up, u.dims});
  }
  each_product(u.attributes, image, u.out, up,
               [&](std::size_t i, std::size_t f, std::size_t o) { u.out.data[f] += image.data[i] * up.data[o]; });
}

/// Visits (element of the image, element of the result, number of elements in the window) for every element in a
/// window.
template <class Visit>
void each_pooled(const Attributes& a, const Array& image, const Array& result, Visit visit) {
  const auto channels = static_cast<std::size_t>(image.shape[3]);
  std::vector<double> count(result.data.size() / (channels == 0 ? 1 : channels));
  each_tap(a, image, result, [&](std::size_t, std::size_t place, std::size_t) { ++count[place]; });
  each_tap(a, image, result, [&](std::size_t pixel, std::size_t place, std::size_t) {
    for (std::size_t c = 0; c < channels; ++c) visit(pixel * channels + c, place * channels + c, count[place]);
  });
}
inline void mean_pool(const Use& u) {
  each_pooled(u.attributes, *u.in[0], u.out,
              [&](std::size_t i, std::size_t o, double n) { u.out.data[o] += u.in[0]->data[i] / n; });
}
inline void mean_pool_gradient(const Use& u) {
  each_pooled(u.attributes, u.out, *u.in[0],
              [&](std::size_t i, std::size_t o, double n) { u.out.data[i] += u.in[0]->data[o] / n; });
}

}  // namespace detail

inline void add_window_rules(std::map<const Op*, KernelRule>& rules) {
  rules.insert({
      {&op::conv2d, detail::conv2d},
      {&op::turned_filter, detail::turned_filter},
      {&op::conv2d_image_gradient, detail::conv2d_image_gradient},
      {&op::conv2d_filter_gradient, detail::conv2d_filter_gradient},
      {&op::depthwise_conv2d, detail::depthwise_conv2d},
      {&op::depthwise_image_gradient, detail::depthwise_image_gradient},
      {&op::depthwise_filter_gradient, detail::depthwise_filter_gradient},
      {&op::max_pool, detail::max_pool},
      {&op::max_pool_winners, detail::max_pool_winners},
      {&op::max_pool_gradient, detail::max_pool_gradient},
      {&op::mean_pool, detail::mean_pool},
      {&op::mean_pool_gradient, detail::mean_pool_gradient},
  });
}

}  // namespace crochet::testing
