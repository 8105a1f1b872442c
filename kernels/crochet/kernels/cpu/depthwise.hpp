// SPDX-License-Identifier: Apache-2.0
// Depthwise convolution and its gradients: vectors of channels, a few positions together. If channels have several
// filters, the image is copied with each channel repeated once per filter.
#pragma once
#include <crochet/base/instruction_set.hpp>
#include <crochet/graph/ops/depthwise.hpp>
#include <crochet/kernels/cpu/conv/depthwise_rows.hpp>
#include <crochet/kernels/epilogue.hpp>

namespace crochet {

namespace kernel::CROCHET_ISA {

namespace detail {
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
}  // namespace kernel::CROCHET_ISA

template <>
struct Kernel<&op::depthwise_conv2d> {
  template <class Backend, class Types, class Epilogue>
  [[gnu::noinline]] static void run(const kernel::Call& call, const Epilogue& epilogue) {
    using T = typename Types::out;
    const kernel::Operand &image = call.in[0], &filter = call.in[1];
    const kernel::Slide s(image, call.out, call.attributes);
    const auto use = [&](std::int64_t row, std::int64_t x, std::int64_t c, const auto* sum, T*) {
      kernel::detail::hand_over<T>(epilogue, row * s.x.places + x, c, sum);
    };
    kernel::DepthwiseRows rows(s, image[3] * filter[3], filter.as<const T>(), false, 0, use);
    rows.run(image.as<const T>(), {s, image[3], filter[3]}, image[0], call.worker);
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
    const kernel::Repeated<T> source(s, all, 1);
    if (times == 1) {
      const auto use = [&](std::int64_t row, std::int64_t x, std::int64_t c, const auto* sum, T*) {
        kernel::detail::hand_over<T>(epilogue, row * s.x.places + x, c, sum);
      };
      kernel::DepthwiseRows rows(s, all, filter.as<const T>(), true, 0, use);
      return rows.run(up.as<const T>(), source, up[0], call.worker);
    }
    // A channel's gradient is the sum over its filters, so a pixel is buffered until all filters are computed.
    const auto use = [&](std::int64_t row, std::int64_t x, std::int64_t c, const auto* sum, T* room) {
      T* pixel = room + x / s.x.spread % 4 * all;
      simd::store(pixel + c, *sum);
      const auto width = static_cast<std::int64_t>(sizeof(*sum) / sizeof(T));
      if (c + width == all) {
        add_up(pixel, all, times, room + 4 * all);
        epilogue.row(row * s.x.places + x, 0, all / times, room + 4 * all);
      }
    };
    kernel::DepthwiseRows rows(s, all, filter.as<const T>(), true, 4 * all + all / times, use);
    rows.run(up.as<const T>(), source, up[0], call.worker);
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
    const std::int64_t all = up[3], some = all < width ? all : width, groups = all == 0 ? 0 : (all + some - 1) / some;
    const kernel::Repeated<T> repeated(s, image[3], call.out[3]);
    // Each member computes its rows of taps, of some channels, from all images.
    const kernel::Range mine = call.worker.part(s.y.taps * groups);
    const std::int64_t size = s.x.taps * some;
    T* const sums = call.worker.scratch<T>(mine.size() * size + repeated.room());
    __builtin_memset(sums, 0, static_cast<std::size_t>(mine.size() * size) * sizeof(T));
    const auto each = [&](auto use) {
      for (std::int64_t m = mine.from; m < mine.to; ++m) {
        const std::int64_t c = m % groups * some;
        use(m / groups, c, all - c < some ? all - c : some, sums + (m - mine.from) * size);
      }
    };
    for (std::int64_t n = 0; n < image[0] && mine.size() > 0; ++n) {
      const T* pixels = repeated.image(image.as<const T>(), n, sums + mine.size() * size);
      const T* from = up.as<const T>() + n * s.y.places * s.x.places * all;
      each([&](std::int64_t i, std::int64_t c, std::int64_t channels, T* to) {
        add(s, repeated, i, pixels + c, from + c, all, channels, to, some);
      });
    }
    each([&](std::int64_t i, std::int64_t c, std::int64_t channels, T* from) {
      for (std::int64_t k = 0; k < s.x.taps; ++k) epilogue.row(i * s.x.taps + k, c, channels, from + k * some);
    });
  }

 private:
  /// The channels that are summed together.
  static constexpr std::int64_t width = 2 * simd::lanes;

  /// Adds an image's contribution to row i of the taps, for `channels` channels. Tap k is at sums[k * pitch].
  template <class T>
  static void add(const kernel::Slide& s, const kernel::Repeated<T>& source, std::int64_t i, const T* image,
                  const T* up, std::int64_t all, std::int64_t channels, T* sums, std::int64_t pitch) {
    const auto taps = [&](std::int64_t c, auto how) {
      std::int64_t k = 0;
      for (; k + 3 <= s.x.taps; k += 3)
        add_taps<3>(s, source, i, k, image + c, up + c, all, sums + k * pitch + c, pitch, how);
      for (; k < s.x.taps; ++k) add_taps<1>(s, source, i, k, image + c, up + c, all, sums + k * pitch + c, pitch, how);
    };
    std::int64_t c = 0;
    if (channels == width) return taps(0, Vectors<2, true>{});
    for (; c + simd::lanes <= channels; c += simd::lanes) taps(c, Vectors<1, true>{});
    for (; c < channels; ++c) taps(c, Vectors<1, false>{});
  }
  template <int U, bool Wide>
  struct Vectors {};

  /// K taps from tap `first` on, and U registers of channels.
  template <int K, int U, bool Wide, class T>
  [[gnu::noinline]] static void add_taps(const kernel::Slide& s, const kernel::Repeated<T>& source, std::int64_t i,
                                         std::int64_t first, const T* image, const T* up, std::int64_t all, T* sums,
                                         std::int64_t pitch, Vectors<U, Wide>) {
    using V = simd::reg_t<T, Wide>;
    constexpr int lanes = Wide ? simd::lanes : 1;
    const kernel::Positions x{s.x, 0, source.bordered()};
    const kernel::Range whole = x.whole(first, first + K);
    const std::int64_t step = x.step() * all;
    V sum[K][U];
    CROCHET_UNROLL
    for (int k = 0; k < K; ++k) {
      CROCHET_UNROLL
      for (int u = 0; u < U; ++u) sum[k][u] = simd::load<T, Wide>(sums + k * pitch + u * lanes);
    }
    for (std::int64_t y = 0; y < s.y.places; ++y) {
      const std::int64_t row = s.y.at(y, i);
      if (row < 0) continue;
      const T* const from = image + (row * source.width() + source.left() + x.first(first)) * all;
      const T* const at = up + y * s.x.places * all;
      const auto add = [&](std::int64_t q, auto use) {
        V upstream[U];
        CROCHET_UNROLL
        for (int u = 0; u < U; ++u) upstream[u] = simd::load<T, Wide>(at + q * all + u * lanes);
        CROCHET_UNROLL
        for (int k = 0; k < K; ++k) {
          if (!use(k)) continue;
          const T* pixel = from + q * step + k * s.x.dilation * all;
          CROCHET_UNROLL
          for (int u = 0; u < U; ++u) sum[k][u] += simd::load<T, Wide>(pixel + u * lanes) * upstream[u];
        }
      };
      const auto edge = [&](std::int64_t q) { add(q, [&](int k) { return x.inside(first + k, q); }); };
      for (std::int64_t q = 0; q < whole.from; ++q) edge(q);
      for (std::int64_t q = whole.from; q < whole.to; ++q) add(q, [](int) { return true; });
      for (std::int64_t q = whole.to; q < s.x.places; ++q) edge(q);
    }
    CROCHET_UNROLL
    for (int k = 0; k < K; ++k) {
      CROCHET_UNROLL
      for (int u = 0; u < U; ++u) simd::store(sums + k * pitch + u * lanes, sum[k][u]);
    }
  }
};

}  // namespace crochet
