// SPDX-License-Identifier: Apache-2.0
// Depthwise convolution and its gradients: vectors of channels, a few positions together. If channels have several
// filters, the image is copied with each channel repeated once per filter.
#pragma once
#include <crochet/graph/ops/depthwise.hpp>
#include <crochet/kernels/cpu/conv/slide.hpp>
#include <crochet/kernels/epilogue.hpp>

namespace crochet {

namespace kernel {

/// Images with every channel repeated `times` times and a border of zeros on the left and right.
template <class T>
class Repeated {
 public:
  Repeated(const Slide& s, std::int64_t channels, std::int64_t times)
      : channels_(channels),
        times_(times),
        height_(s.y.source),
        width_(s.x.source),
        border_(s, channels * times, false) {}

  std::int64_t room() const { return (border_.empty() ? 0 : border_.size()) + (times_ == 1 ? 0 : size() * times_); }
  std::int64_t pitch() const { return border_.pitch(); }
  std::int64_t left() const { return border_.left; }
  const T* image(const T* images, std::int64_t n, T* room) const {
    const T* from = images + n * size();
    if (times_ == 1) return border_.around(from, room);
    T* repeated = room + (border_.empty() ? 0 : border_.size());
    for (std::int64_t i = 0; i < size(); ++i) {
      for (std::int64_t q = 0; q < times_; ++q) repeated[i * times_ + q] = from[i];
    }
    return border_.around(static_cast<const T*>(repeated), room);
  }

 private:
  std::int64_t size() const { return height_ * width_ * channels_; }
  std::int64_t channels_, times_, height_, width_;
  Border border_;
};

namespace detail {
/// A tap inside the image: its offset from the first position of a row, and its filters.
template <class T>
struct Tap {
  std::int64_t at;
  const T* filter;
};

/// The sums of P positions, `step` apart, at channel c.
template <int P, bool Wide, class T>
CROCHET_ALWAYS_INLINE void sum_of_taps(const T* image, std::int64_t step, const Tap<T>* taps, std::int64_t count,
                                       std::int64_t c, simd::reg_t<T, Wide> (&sum)[P]) {
  for (std::int64_t t = 0; t < count; ++t) {
    const simd::reg_t<T, Wide> w = simd::load<T, Wide>(taps[t].filter + c);
    const T* p = image + taps[t].at + c;
    CROCHET_UNROLL
    for (int i = 0; i < P; ++i) sum[i] += w * simd::load<T, Wide>(p + i * step);
  }
}

/// out[place, c] = sum over taps of source[.., c] * filter(tap)[c]. Calls use(row of the result, place, c, P, sums).
/// `backwards`: reverses the taps.
template <class T, class Use>
void depthwise(const Slide& s, std::int64_t images, std::int64_t channels, std::int64_t times, const T* source,
               const T* filter, bool backwards, Worker& worker, std::int64_t more_room, Use use) {
  const Repeated<T> repeated(s, channels, times);
  const std::int64_t all = channels * times, window = s.y.taps * s.x.taps;
  constexpr std::int64_t tap_size = sizeof(Tap<T>) / sizeof(T);
  T* room = worker.scratch<T>(window * tap_size + more_room + repeated.room());
  auto* taps = reinterpret_cast<Tap<T>*>(room);
  T* more = room + window * tap_size;
  const Range mine = worker.part(images * s.y.places);
  const T* image = nullptr;
  for (std::int64_t r = mine.from, ready = -1; r < mine.to; ++r) {
    const std::int64_t n = r / s.y.places;
    if (n != ready) image = repeated.image(source, n, more + more_room);
    ready = n;
    for (std::int64_t phase = 0; phase < s.x.spread && phase < s.x.places; ++phase) {
      std::int64_t count = 0;
      for (std::int64_t t = 0; t < window; ++t) {
        const std::int64_t row = s.y.at(r % s.y.places, t / s.x.taps), x = s.x.spread_index(phase, t % s.x.taps);
        if (row < 0 || x % s.x.spread != 0) continue;
        taps[count++] = {row * repeated.pitch() + (x / s.x.spread + repeated.left()) * all,
                         filter + (backwards ? window - 1 - t : t) * all};
      }
      const std::int64_t step = (s.x.spread == 1 ? s.x.stride : 1) * all;
      const std::int64_t places = (s.x.places - phase + s.x.spread - 1) / s.x.spread;
      const auto some = [&](auto many, std::int64_t x) {
        constexpr int P = decltype(many)::value;
        const T* from = image + x * step;
        const std::int64_t place = phase + x * s.x.spread;
        std::int64_t c = 0;
        for (; c + simd::lanes <= all; c += simd::lanes) {
          simd::vec<T> sum[P] = {};
          sum_of_taps<P, true>(from, step, taps, count, c, sum);
          for (int i = 0; i < P; ++i) use(r, place + i * s.x.spread, c, &sum[i], more);
        }
        for (; c < all; ++c) {
          T sum[P] = {};
          sum_of_taps<P, false>(from, step, taps, count, c, sum);
          for (int i = 0; i < P; ++i) use(r, place + i * s.x.spread, c, &sum[i], more);
        }
      };
      std::int64_t x = 0;
      for (; x + 4 <= places; x += 4) some(std::integral_constant<int, 4>{}, x);
      for (; x < places; ++x) some(std::integral_constant<int, 1>{}, x);
    }
  }
}

/// Passes one vector, or one element, to the epilogue.
template <class T, class Epilogue, class V>
CROCHET_ALWAYS_INLINE void hand_over(const Epilogue& epilogue, std::int64_t row, std::int64_t c, const V* value) {
  if constexpr (simd::is_scalar<V>) {
    epilogue.row(row, c, 1, value);
  } else {
    epilogue.template vectors<1>(row, c, value);
  }
}
}  // namespace detail
}  // namespace kernel

template <>
struct Kernel<&op::depthwise_conv2d> {
  template <class Backend, class Types, class Epilogue>
  [[gnu::noinline]] static void run(const kernel::Call& call, const Epilogue& epilogue) {
    using T = typename Types::out;
    const kernel::Operand &image = call.in[0], &filter = call.in[1];
    const kernel::Slide s(image, call.out, call.attributes);
    kernel::detail::depthwise(s, image[0], image[3], filter[3], image.as<const T>(), filter.as<const T>(), false,
                              call.worker, 0,
                              [&](std::int64_t row, std::int64_t x, std::int64_t c, const auto* sum, T*) {
                                kernel::detail::hand_over<T>(epilogue, row * s.x.places + x, c, sum);
                              });
  }
};

template <>
struct Kernel<&op::depthwise_image_gradient> {
  template <class Backend, class Types, class Epilogue>
  [[gnu::noinline]] static void run(const kernel::Call& call, const Epilogue& epilogue) {
    using T = typename Types::out;
    const kernel::Operand &filter = call.in[0], &up = call.in[1];
    const kernel::Slide s = kernel::Slide(call.out, up, call.attributes).back();
    const std::int64_t all = up[3], times = filter[3];
    if (times == 1) {
      return kernel::detail::depthwise(s, up[0], all, 1, up.as<const T>(), filter.as<const T>(), true, call.worker, 0,
                                       [&](std::int64_t row, std::int64_t x, std::int64_t c, const auto* sum, T*) {
                                         kernel::detail::hand_over<T>(epilogue, row * s.x.places + x, c, sum);
                                       });
    }
    // A channel's gradient is the sum over its filters, so a pixel is buffered until all filters are computed.
    kernel::detail::depthwise(s, up[0], all, 1, up.as<const T>(), filter.as<const T>(), true, call.worker,
                              4 * all + all / times,
                              [&](std::int64_t row, std::int64_t x, std::int64_t c, const auto* sum, T* room) {
                                T* pixel = room + x / s.x.spread % 4 * all;
                                simd::store(pixel + c, *sum);
                                const auto width = static_cast<std::int64_t>(sizeof(*sum) / sizeof(T));
                                if (c + width == all) {
                                  add_up(pixel, all, times, room + 4 * all);
                                  epilogue.row(row * s.x.places + x, 0, all / times, room + 4 * all);
                                }
                              });
  }

 private:
  template <class T>
  static void add_up(const T* from, std::int64_t all, std::int64_t times, T* to) {
    for (std::int64_t c = 0; c < all; c += times) {
      T sum{};
      for (std::int64_t q = 0; q < times; ++q) sum += from[c + q];
      to[c / times] = sum;
    }
  }
};

template <>
struct Kernel<&op::depthwise_filter_gradient> {
  template <class Backend, class Types, class Epilogue>
  [[gnu::noinline]] static void run(const kernel::Call& call, const Epilogue& epilogue) {
    using T = typename Types::out;
    const kernel::Operand &image = call.in[0], &up = call.in[1];
    const kernel::Slide s(image, up, call.attributes);
    const std::int64_t all = up[3], times = call.out[3], window = s.y.taps * s.x.taps;
    const kernel::Repeated<T> repeated(s, image[3], times);
    // Each member computes the filters of its taps from all images.
    const kernel::Range mine = call.worker.part(window);
    T* sums = call.worker.scratch<T>(mine.size() * all + repeated.room());
    __builtin_memset(sums, 0, static_cast<std::size_t>(mine.size() * all) * sizeof(T));
    for (std::int64_t n = 0; n < image[0]; ++n) {
      const T* padded = repeated.image(image.as<const T>(), n, sums + mine.size() * all);
      for (std::int64_t t = mine.from; t < mine.to; ++t) {
        add(s, t, padded, repeated, up.as<const T>() + n * s.y.places * s.x.places * all, all,
            sums + (t - mine.from) * all);
      }
    }
    for (std::int64_t t = mine.from; t < mine.to; ++t) epilogue.row(t, 0, all, sums + (t - mine.from) * all);
  }

 private:
  template <class T>
  static void add(const kernel::Slide& s, std::int64_t tap, const T* image, const kernel::Repeated<T>& repeated,
                  const T* up, std::int64_t all, T* sums) {
    const std::int64_t first = (s.x.spread_index(0, tap % s.x.taps) + repeated.left()) * all;
    for (std::int64_t y = 0; y < s.y.places; ++y, up += s.x.places * all) {
      const std::int64_t row = s.y.at(y, tap / s.x.taps);
      if (row < 0) continue;
      const T* from = image + row * repeated.pitch() + first;
      std::int64_t c = 0;
      for (; c + 2 * simd::lanes <= all; c += 2 * simd::lanes) add_row<2, true>(s.x, from + c, up + c, all, sums + c);
      for (; c + simd::lanes <= all; c += simd::lanes) add_row<1, true>(s.x, from + c, up + c, all, sums + c);
      for (; c < all; ++c) add_row<1, false>(s.x, from + c, up + c, all, sums + c);
    }
  }
  template <int U, bool Wide, class T>
  static void add_row(const kernel::Axis& x, const T* image, const T* up, std::int64_t all, T* sums) {
    constexpr int width = Wide ? simd::lanes : 1;
    simd::reg_t<T, Wide> sum[U];
    CROCHET_UNROLL
    for (int u = 0; u < U; ++u) sum[u] = simd::load<T, Wide>(sums + u * width);
    for (std::int64_t k = 0; k < x.places; ++k, image += x.stride * all, up += all) {
      CROCHET_UNROLL
      for (int u = 0; u < U; ++u) {
        sum[u] += simd::load<T, Wide>(image + u * width) * simd::load<T, Wide>(up + u * width);
      }
    }
    CROCHET_UNROLL
    for (int u = 0; u < U; ++u) simd::store(sums + u * width, sum[u]);
  }
};

}  // namespace crochet
