// SPDX-License-Identifier: Apache-2.0
// Pooling and its gradients, by vectors of channels (pool_windows.hpp).
#pragma once
#include <crochet/base/instruction_set.hpp>
#include <crochet/graph/ops/pool.hpp>
#include <crochet/kernels/cpu/conv/slide.hpp>
#include <crochet/kernels/cpu/conv/winners.hpp>
#include <crochet/kernels/cpu/pool_windows.hpp>
#include <crochet/kernels/epilogue.hpp>

namespace crochet {

namespace kernel::CROCHET_ISA::detail {

/// The sum of at(y, x) over some rows and columns of a window, at least one.
template <class At>
CROCHET_ALWAYS_INLINE auto sum_of_elements(Range rows, Range columns, At at) {
  auto sum = at(rows.from, columns.from);
  for (std::int64_t i = rows.from; i < rows.to; ++i) {
    for (std::int64_t k = i == rows.from ? columns.from + 1 : columns.from; k < columns.to; ++k) sum += at(i, k);
  }
  return sum;
}
/// The elements of a window that are summed in one accumulator.
inline constexpr std::int64_t window_block = 64;
/// The same for a large window: the sum of sums over blocks, so that the rounding error does not grow with the window.
template <class At>
CROCHET_ALWAYS_INLINE auto sum_of_blocks(std::int64_t rows, std::int64_t columns, At at) {
  const std::int64_t wide = columns < window_block ? columns : window_block, high = window_block / wide;
  decltype(at(0, 0)) total{};
  for (std::int64_t y = 0; y < rows; y += high) {
    const Range some{y, rows - y < high ? rows : y + high};
    for (std::int64_t x = 0; x < columns; x += wide) {
      total += sum_of_elements(some, {x, columns - x < wide ? columns : x + wide}, at);
    }
  }
  return total;
}

/// Whether the windows tile the axis: then each element belongs to exactly one.
inline bool is_tiled(const Axis& a) { return a.stride == a.taps && a.before == 0 && a.places * a.stride == a.source; }

}  // namespace kernel::CROCHET_ISA::detail

template <>
struct Kernel<&op::max_pool> {
  template <class Backend, class Types, class Epilogue>
  [[gnu::noinline]] static void run(const kernel::Call& call, const Epilogue& epilogue) {
    using T = typename Types::out;
    kernel::detail::pool<T>(call, epilogue, [](std::int64_t rows, std::int64_t columns, auto at) {
      auto top = at(0, 0);
      auto is_nan = top != top;
      for (std::int64_t i = 0; i < rows; ++i) {
        for (std::int64_t k = 0; k < columns; ++k) {
          const auto e = at(i, k);
          is_nan |= e != e;
          top = e > top ? e : top;
        }
      }
      return decltype(top)(is_nan ? top - top + std::numeric_limits<T>::quiet_NaN() : top);
    });
  }
};

template <>
struct Kernel<&op::max_pool_winners> {
  template <class Backend, class Types>
  [[gnu::noinline]] static void run(const kernel::Call& call) {
    using T = kernel::in_t<Types>;
    using Index = typename Types::out;
    const kernel::detail::PoolShape<T> p(call.in[0], call.out, call.attributes);
    kernel::detail::each_row_of(p.s.y, p.images, call.worker, [&](std::int64_t n, std::int64_t oy, std::int64_t row) {
      const T* image = call.in[0].as<const T>() + n * p.pixels() * p.channels;
      Index* out = call.out.as<Index>() + row * p.s.x.places * p.channels;
      const kernel::detail::Clipped y(p.s.y, oy);
      for (std::int64_t ox = 0; ox < p.s.x.places; ++ox, out += p.channels) {
        const kernel::detail::Clipped x(p.s.x, ox);
        constexpr std::int64_t lanes = kernel::native_lanes<T>;
        std::int64_t c = 0;
        for (; c + lanes <= p.channels; c += lanes) {
          simd::store(out + c, winner<kernel::detail::part<T, Index>, kernel::detail::part<T>>(p, image + c, y, x));
        }
        for (; c < p.channels; ++c) out[c] = winner<Index, T>(p, image + c, y, x);
      }
    });
  }

 private:
  /// The index of the winning tap. I: the type of the indices, V: of the elements.
  template <class I, class V, class T>
  CROCHET_ALWAYS_INLINE static I winner(const kernel::detail::PoolShape<T>& p, const T* image,
                                        const kernel::detail::Clipped& y, const kernel::detail::Clipped& x) {
    using Index = typename IndexOf<I>::type;
    const auto at = [&](std::int64_t i, std::int64_t k) {
      return kernel::detail::load_like<V>(image + (i * p.s.x.source + k) * p.channels);
    };
    const auto number = [&](std::int64_t i, std::int64_t k) {
      return static_cast<I>(I{} + static_cast<Index>((i - y.first) * p.s.x.taps + k - x.first));
    };
    V top = at(y.from, x.from);
    I best = number(y.from, x.from);
    for (std::int64_t i = y.from; i < y.to; ++i) {
      for (std::int64_t k = x.from; k < x.to; ++k) {
        const V e = at(i, k);
        best = kernel::detail::choose<I>(e > top, number(i, k), best);
        top = e > top ? e : top;
      }
    }
    return best;
  }
  template <class I>
  struct IndexOf {
    using type = simd::element_of<I>;
  };
  template <class I>
  requires simd::is_scalar<I>
  struct IndexOf<I> {
    using type = I;
  };
};

template <>
struct Kernel<&op::max_pool_gradient> {
  template <class Backend, class Types, class Epilogue>
  [[gnu::noinline]] static void run(const kernel::Call& call, const Epilogue& epilogue) {
    using T = typename Types::out;
    using Index = kernel::in_t<Types, 1>;
    const kernel::Slide s(call.out, call.in[0], call.attributes);
    if (kernel::detail::is_tiled(s.y) && kernel::detail::is_tiled(s.x)) return by_windows<T, Index>(call, s, epilogue);
    const std::int64_t channels = call.out[3];
    const T* up = call.in[0].as<const T>();
    const Index* winners = call.in[1].as<const Index>();
    kernel::detail::unpool<T>(
        call, s, epilogue,
        [&](std::int64_t place, std::int64_t, std::int64_t, std::int64_t tap, std::int64_t c, const auto& sample) {
          const std::int64_t at = place * channels + c;
          return kernel::detail::to_winner<std::decay_t<decltype(sample)>>(up + at, winners + at, tap);
        });
  }

 private:
  template <class T, class Index, class Epilogue>
  static void by_windows(const kernel::Call& call, const kernel::Slide& s, const Epilogue& epilogue) {
    const std::int64_t channels = call.out[3];
    const kernel::Range mine = call.worker.part(call.out[0] * s.y.places);
    const T* up = call.in[0].as<const T>() + mine.from * s.x.places * channels;
    const Index* winners = call.in[1].as<const Index>() + mine.from * s.x.places * channels;
    for (std::int64_t r = mine.from; r < mine.to; ++r) {
      for (std::int64_t ox = 0; ox < s.x.places; ++ox, up += channels, winners += channels) {
        const std::int64_t corner = r * s.y.stride * s.x.source + ox * s.x.stride;
        for (std::int64_t i = 0, tap = 0; i < s.y.taps; ++i) {
          for (std::int64_t k = 0; k < s.x.taps; ++k, ++tap) {
            kernel::detail::over_channels<T>(
                corner + i * s.x.source + k, channels, epilogue, [&](std::int64_t c, const auto& sample) {
                  return kernel::detail::to_winner<std::decay_t<decltype(sample)>>(up + c, winners + c, tap);
                });
          }
        }
      }
    }
  }
};

template <>
struct Kernel<&op::mean_pool> {
  template <class Backend, class Types, class Epilogue>
  [[gnu::noinline]] static void run(const kernel::Call& call, const Epilogue& epilogue) {
    const kernel::Slide s(call.in[0], call.out, call.attributes);
    if (s.y.taps * s.x.taps > kernel::detail::window_block) return large<typename Types::out>(call, epilogue);
    means<typename Types::out>(call, epilogue, [](std::int64_t rows, std::int64_t columns, auto at) {
      return kernel::detail::sum_of_elements({0, rows}, {0, columns}, at);
    });
  }

 private:
  template <class T, class Epilogue>
  [[gnu::noinline]] static void large(const kernel::Call& call, const Epilogue& epilogue) {
    means<T>(call, epilogue, [](std::int64_t rows, std::int64_t columns, auto at) {
      return kernel::detail::sum_of_blocks(rows, columns, at);
    });
  }
  template <class T, class Epilogue, class Sum>
  CROCHET_ALWAYS_INLINE static void means(const kernel::Call& call, const Epilogue& epilogue, Sum sum) {
    kernel::detail::pool<T>(call, epilogue, [&](std::int64_t rows, std::int64_t columns, auto at) {
      return decltype(at(0, 0))(sum(rows, columns, at) * (T{1} / static_cast<T>(rows * columns)));
    });
  }
};

template <>
struct Kernel<&op::mean_pool_gradient> {
  template <class Backend, class Types, class Epilogue>
  [[gnu::noinline]] static void run(const kernel::Call& call, const Epilogue& epilogue) {
    using T = typename Types::out;
    const kernel::Slide s(call.out, call.in[0], call.attributes);
    const std::int64_t channels = call.out[3];
    const T* up = call.in[0].as<const T>();
    kernel::detail::unpool<T>(
        call, s, epilogue,
        [&](std::int64_t place, std::int64_t oy, std::int64_t ox, std::int64_t, std::int64_t c, const auto& sample) {
          using V = std::decay_t<decltype(sample)>;
          const std::int64_t n = kernel::detail::Clipped(s.y, oy).size() * kernel::detail::Clipped(s.x, ox).size();
          return V(kernel::detail::load_like<V>(up + place * channels + c) * (T{1} / static_cast<T>(n)));
        });
  }
};

}  // namespace crochet
