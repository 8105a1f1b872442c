// SPDX-License-Identifier: Apache-2.0
// Convolutions and gradients of filters by copied windows, against the definition: integers, whose products and sums
// are exact, for windows that cross borders, strides, dilations, gradients of strides, and parts of the rows.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <crochet/kernels/cpu/conv/gathered.hpp>
#include <crochet/kernels/cpu/conv/gathered_gradient.hpp>

namespace crochet {
namespace gathered_test {

struct Sizes {
  std::int64_t images, height, width, channels, filters;
  std::int32_t window_height, window_width, stride_y = 1, stride_x = 1, dilation_y = 1, dilation_x = 1;
  bool same = true;  ///< padding
};

constexpr Sizes sizes[] = {
    {2, 5, 6, 1, 3, 3, 3},
    {3, 7, 5, 3, 17, 3, 3},
    {2, 4, 9, 16, 33, 2, 3, 1, 1, 1, 1, false},
    {1, 9, 8, 5, 32, 3, 3, 2, 2},
    {2, 8, 11, 4, 40, 3, 2, 1, 1, 2, 3},
    {2, 10, 9, 2, 7, 5, 4, 3, 2},
    {3, 1, 1, 40, 5, 1, 1},
    {1, 20, 20, 33, 64, 3, 3},
    {1, 21, 40, 64, 6, 3, 3},  // several groups of rows
};

std::int64_t places(std::int64_t source, std::int64_t window, std::int64_t stride, std::int64_t dilation, bool same) {
  return same ? (source + stride - 1) / stride : (source - (window - 1) * dilation - 1) / stride + 1;
}

kernel::Slide slide_of(const Sizes& s) {
  const std::int64_t rows = places(s.height, s.window_height, s.stride_y, s.dilation_y, s.same);
  const std::int64_t columns = places(s.width, s.window_width, s.stride_x, s.dilation_x, s.same);
  const kernel::Operand image{.rank = 4, .extents = {s.images, s.height, s.width, s.channels}};
  const kernel::Operand out{.rank = 4, .extents = {s.images, rows, columns, s.filters}};
  const Attributes attributes{
      .ints = {s.window_height, s.window_width, s.stride_y, s.stride_x, 0, s.dilation_y, s.dilation_x}};
  return {image, out, attributes};
}

/// n integers of this magnitude at most, which is reached by the first `reached` of them.
std::vector<float> integers(std::int64_t n, int magnitude, std::int64_t reached, std::uint32_t seed) {
  std::vector<float> all(static_cast<std::size_t>(n));
  for (float& x : all) {
    seed = seed * 1664525U + 1013904223U;
    x = static_cast<float>(static_cast<int>(seed >> 20U) % (2 * magnitude + 1) - magnitude);
  }
  std::fill_n(all.begin(), reached, static_cast<float>(magnitude));
  return all;
}

/// Calls use(result's position, tap, source's position) for what the windows of one image read.
template <class Use>
void each_read(const kernel::Slide& s, Use use) {
  for (std::int64_t y = 0; y < s.y.places; ++y) {
    for (std::int64_t x = 0; x < s.x.places; ++x) {
      for (std::int64_t i = 0; i < s.y.taps; ++i) {
        for (std::int64_t k = 0; k < s.x.taps; ++k) {
          const std::int64_t row = s.y.at(y, i), column = s.x.at(x, k);
          if (row >= 0 && column >= 0) use(y * s.x.places + x, i * s.x.taps + k, row * s.x.source + column);
        }
      }
    }
  }
}

/// A convolution of images by a filter [taps * channels, filters].
struct Convolution {
  kernel::Slide slide;
  std::int64_t images, channels, filters;
  std::vector<float> image, filter;

  /// Integers of one byte. Every image, and every column of the filter, has one of the largest magnitude.
  Convolution(const kernel::Slide& s, std::int64_t n, std::int64_t c, std::int64_t k, int magnitude)
      : slide(s), images(n), channels(c), filters(k), filter(integers(s.y.taps * s.x.taps * c * k, magnitude, k, 3)) {
    for (std::int64_t i = 0; i < n; ++i) {
      const auto more = integers(size(), magnitude, 1, static_cast<std::uint32_t>(i));
      image.insert(image.end(), more.begin(), more.end());
    }
  }
  std::int64_t size() const { return slide.y.source * slide.x.source * channels; }
  std::int64_t results() const { return slide.y.places * slide.x.places; }

  std::vector<float> defined() const {
    std::vector<float> result(static_cast<std::size_t>(images * results() * filters));
    for (std::int64_t n = 0; n < images; ++n) {
      each_read(slide, [&](std::int64_t to, std::int64_t tap, std::int64_t from) {
        for (std::int64_t c = 0; c < channels; ++c) {
          const float pixel = image[static_cast<std::size_t>(n * size() + from * channels + c)];
          for (std::int64_t k = 0; k < filters; ++k) {
            result[static_cast<std::size_t>((n * results() + to) * filters + k)] +=
                pixel * filter[static_cast<std::size_t>((tap * channels + c) * filters + k)];
          }
        }
      });
    }
    return result;
  }
  /// As one of `count` members after the other would compute it.
  template <class Word>
  std::vector<float> computed(int count) const {
    std::vector<float> result(static_cast<std::size_t>(images * results() * filters), NAN);
    const kernel::StoreTo<float> store{result.data(), filters};
    kernel::Barrier barrier(count);
    std::vector<kernel::AlignedBytes> scratch(static_cast<std::size_t>(count));
    for (int member = 0; member < count; ++member) {
      kernel::Worker worker(member, count, barrier, scratch);
      kernel::correlate_gathered<Word>(slide, channels, filters, image.data(),
                                       kernel::row_major(filter.data(), filters), worker.part(images * slide.y.places),
                                       worker, store);
    }
    return result;
  }
};

template <class Word>
void agrees_with_the_definition(int magnitude) {
  for (const Sizes& s : sizes) {
    SCOPED_TRACE("filters " + std::to_string(s.filters) + ", height " + std::to_string(s.height));
    const Convolution forward(slide_of(s), s.images, s.channels, s.filters, magnitude);
    const Convolution backward(slide_of(s).back(), s.images, s.filters, s.channels, magnitude);
    for (const int count : {1, 3}) {
      ASSERT_EQ(forward.computed<Word>(count), forward.defined());
      ASSERT_EQ(backward.computed<Word>(count), backward.defined());
    }
  }
}

TEST(Gathered, ConvolutionsOfBfloat16) { agrees_with_the_definition<kernel::Bfloat16Pair>(7); }
TEST(Gathered, ConvolutionsOfIntegers) { agrees_with_the_definition<kernel::Int8Quad>(127); }

TEST(Gathered, ANanPixelReachesTheWindowsThatContainIt) {
  const Sizes s{1, 6, 6, 3, 4, 3, 3};
  Convolution c(slide_of(s), s.images, s.channels, s.filters, 7);
  c.image[(2 * 6 + 3) * 3 + 1] = NAN;
  const auto result = c.computed<kernel::Bfloat16Pair>(1);
  for (std::int64_t p = 0; p < 36; ++p) {
    const bool reads = std::abs(p / 6 - 2) <= 1 && std::abs(p % 6 - 3) <= 1;
    EXPECT_EQ(std::isnan(result[static_cast<std::size_t>(4 * p)]), reads) << p;
  }
}

using Gradient = kernel::GatheredFilterGradient<kernel::Upstream<float>>;

/// The gradient's rows, summed by `count` members one after the other.
std::vector<float> gradient_of(const Sizes& s, const Convolution& c, const std::vector<float>& up, int count) {
  const kernel::Slide slide = slide_of(s);
  Gradient g(slide, s.channels, s.filters, {up.data(), slide.y.places, slide.x.places, s.filters});
  std::vector<float> result(static_cast<std::size_t>(g.rows() * s.filters), NAN);
  const kernel::StoreTo<float> store{result.data(), s.filters};
  kernel::AlignedBytes room;
  for (int member = 0; member < count; ++member) {
    const auto bytes = static_cast<std::size_t>(g.sums_room() + g.scratch()) * sizeof(float);
    room.reserve(bytes);
    auto* const sums = reinterpret_cast<float*>(room.data());
    const kernel::Range rows = kernel::part_of(g.rows(), member, count);
    g.sum(c.image.data(), {0, s.images}, rows, sums, sums + g.sums_room());
    g.hand_over(sums, rows, store, [](float*, std::int64_t) {});
  }
  return result;
}

TEST(Gathered, GradientsOfFilters) {
  for (const Sizes& s : sizes) {
    SCOPED_TRACE("filters " + std::to_string(s.filters) + ", height " + std::to_string(s.height));
    const Convolution c(slide_of(s), s.images, s.channels, s.filters, 7);
    const auto up = integers(s.images * c.results() * s.filters, 7, 0, 5);
    std::vector<float> defined(c.filter.size());
    for (std::int64_t n = 0; n < s.images; ++n) {
      each_read(c.slide, [&](std::int64_t at, std::int64_t tap, std::int64_t from) {
        for (std::int64_t i = 0; i < s.channels; ++i) {
          const float pixel = c.image[static_cast<std::size_t>(n * c.size() + from * s.channels + i)];
          for (std::int64_t k = 0; k < s.filters; ++k) {
            defined[static_cast<std::size_t>((tap * s.channels + i) * s.filters + k)] +=
                pixel * up[static_cast<std::size_t>((n * c.results() + at) * s.filters + k)];
          }
        }
      });
    }
    ASSERT_EQ(gradient_of(s, c, up, 1), defined);
    ASSERT_EQ(gradient_of(s, c, up, 3), defined);
  }
}

}  // namespace gathered_test
}  // namespace crochet
