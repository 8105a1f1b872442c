// SPDX-License-Identifier: Apache-2.0
// Pooling and its gradients, vectors of channels at a time.
#pragma once
#include <crochet/graph/ops/pool.hpp>
#include <crochet/kernels/cpu/conv/slide.hpp>
#include <crochet/kernels/epilogue.hpp>

namespace crochet {

namespace kernel::detail {

/// The part [from, to) of a window that lies in the image, and the place of its first tap.
struct Clipped {
  std::int64_t first, from, to;
  Clipped(const Axis& a, std::int64_t place) : first(place * a.stride - a.before) {
    from = first < 0 ? 0 : first;
    to = first + a.taps < a.source ? first + a.taps : a.source;
  }
  std::int64_t size() const { return to - from; }
};

/// The places [from, to) whose windows cover an element.
struct Covering {
  std::int64_t from, to;
  Covering(const Axis& a, std::int64_t element) {
    const std::int64_t last = element + a.before, first = last - a.taps;
    from = first < 0 ? 0 : first / a.stride + 1;
    to = last / a.stride + 1 < a.places ? last / a.stride + 1 : a.places;
  }
};

/// Calls one(place, image, row of the result) for this member's part of all windows, places counted over all images.
template <class One>
CROCHET_ALWAYS_INLINE void each_row_of(const Axis& y, std::int64_t images, Worker& w, One one) {
  const Range mine = w.part(images * y.places);
  for (std::int64_t r = mine.from; r < mine.to; ++r) one(r / y.places, r % y.places, r);
}

/// Calls vectors(c) for whole vectors of channels and single(c) for those that remain.
template <class Many, class Single>
CROCHET_ALWAYS_INLINE void over_channels(std::int64_t channels, Many many, Single single) {
  std::int64_t c = 0;
  for (; c + simd::lanes <= channels; c += simd::lanes) many(c);
  for (; c < channels; ++c) single(c);
}

template <class T>
struct PoolShape {
  Slide s;
  std::int64_t images, channels;
  PoolShape(const Operand& image, const Operand& out, const Attributes& a)
      : s(image, out, a), images(image[0]), channels(image[3]) {}
  std::int64_t pixels() const { return s.y.source * s.x.source; }
  std::int64_t places() const { return s.y.places * s.x.places; }
};

/// What e becomes after top: the first of the greatest stays, a NaN wins.
template <class V>
CROCHET_ALWAYS_INLINE auto wins(const V& e, const V& top) {
  return (e > top) | ((e != e) & (top == top));
}

/// Reduces each window: `reduce(window rows, columns, element at(y, x))` gives the result of one vector, or of one
/// channel.
template <class T, class Epilogue, class Reduce>
CROCHET_ALWAYS_INLINE void pool(const Call& call, const Epilogue& epilogue, Reduce reduce) {
  const PoolShape<T> p(call.in[0], call.out, call.attributes);
  each_row_of(p.s.y, p.images, call.worker, [&](std::int64_t n, std::int64_t oy, std::int64_t row) {
    const T* image = call.in[0].as<const T>() + n * p.pixels() * p.channels;
    const Clipped y(p.s.y, oy);
    for (std::int64_t ox = 0; ox < p.s.x.places; ++ox) {
      const Clipped x(p.s.x, ox);
      const T* corner = image + (y.from * p.s.x.source + x.from) * p.channels;
      const std::int64_t pitch = p.s.x.source * p.channels, place = row * p.s.x.places + ox;
      over_channels(
          p.channels,
          [&](std::int64_t c) {
            const simd::vec<T> v[1] = {reduce(y.size(), x.size(), [&](std::int64_t i, std::int64_t k) {
              return simd::load<T, true>(corner + i * pitch + k * p.channels + c);
            })};
            epilogue.template vectors<1>(place, c, v);
          },
          [&](std::int64_t c) {
            const T v = reduce(y.size(), x.size(),
                               [&](std::int64_t i, std::int64_t k) { return corner[i * pitch + k * p.channels + c]; });
            epilogue.row(place, c, 1, &v);
          });
    }
  });
}

/// The gradient of the image, pixel by pixel: `share(window, tap of it that the pixel is, c)` adds up over the windows
/// that cover it.
template <class T, class Epilogue, class Share>
CROCHET_ALWAYS_INLINE void unpool(const Call& call, const Slide& s, std::int64_t channels, std::int64_t images,
                                  const Epilogue& epilogue, Share share) {
  const Range mine = call.worker.part(images * s.y.source);
  for (std::int64_t r = mine.from; r < mine.to; ++r) {
    const std::int64_t n = r / s.y.source, y = r % s.y.source;
    const Covering rows(s.y, y);
    for (std::int64_t x = 0; x < s.x.source; ++x) {
      const Covering columns(s.x, x);
      const auto sum = [&](auto wide, std::int64_t c) {
        simd::reg_t<T, decltype(wide)::value> total{};
        for (std::int64_t oy = rows.from; oy < rows.to; ++oy) {
          for (std::int64_t ox = columns.from; ox < columns.to; ++ox) {
            const std::int64_t tap = (y + s.y.before - oy * s.y.stride) * s.x.taps + x + s.x.before - ox * s.x.stride;
            total += share(wide, (n * s.y.places + oy) * s.x.places + ox, oy, ox, tap, c);
          }
        }
        return total;
      };
      const std::int64_t pixel = r * s.x.source + x;
      over_channels(
          channels,
          [&](std::int64_t c) {
            const simd::vec<T> v[1] = {sum(std::true_type{}, c)};
            epilogue.template vectors<1>(pixel, c, v);
          },
          [&](std::int64_t c) {
            const T v = sum(std::false_type{}, c);
            epilogue.row(pixel, c, 1, &v);
          });
    }
  }
}
}  // namespace kernel::detail

template <>
struct Kernel<&op::max_pool> {
  template <class Backend, class Types, class Epilogue>
  [[gnu::noinline]] static void run(const kernel::Call& call, const Epilogue& epilogue) {
    using T = typename Types::out;
    kernel::detail::pool<T>(call, epilogue, [](std::int64_t rows, std::int64_t columns, auto at) {
      auto top = at(0, 0);
      for (std::int64_t i = 0; i < rows; ++i) {
        for (std::int64_t k = 0; k < columns; ++k) {
          const auto e = at(i, k);
          top = kernel::detail::wins(e, top) ? e : top;
        }
      }
      return top;
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
        kernel::detail::over_channels(
            p.channels, [&](std::int64_t c) { store(out + c, winner<true>(p, image + c, y, x)); },
            [&](std::int64_t c) { store(out + c, winner<false>(p, image + c, y, x)); });
      }
    });
  }

 private:
  template <class T>
  using Signed = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;

  /// The tap's number, in a register as wide as the elements'.
  template <bool Wide, class T>
  static auto winner(const kernel::detail::PoolShape<T>& p, const T* image, const kernel::detail::Clipped& y,
                     const kernel::detail::Clipped& x) {
    using I = simd::reg_t<Signed<T>, Wide>;
    auto top = simd::load<T, Wide>(image + (y.from * p.s.x.source + x.from) * p.channels);
    const auto number = [&](std::int64_t i, std::int64_t k) {
      return simd::splat<Signed<T>, Wide>(static_cast<Signed<T>>((i - y.first) * p.s.x.taps + k - x.first));
    };
    I best = number(y.from, x.from);
    for (std::int64_t i = y.from; i < y.to; ++i) {
      for (std::int64_t k = x.from; k < x.to; ++k) {
        const auto e = simd::load<T, Wide>(image + (i * p.s.x.source + k) * p.channels);
        const auto better = kernel::detail::wins(e, top);
        best = better ? number(i, k) : best;
        top = better ? e : top;
      }
    }
    return best;
  }
  template <class Index, class I>
  CROCHET_ALWAYS_INLINE static void store(Index* to, const I& index) {
    if constexpr (simd::is_scalar<I>) {
      *to = static_cast<Index>(index);
    } else {
      simd::store(to, __builtin_convertvector(index, simd::vec<Index>));
    }
  }
};

template <>
struct Kernel<&op::max_pool_gradient> {
  template <class Backend, class Types, class Epilogue>
  [[gnu::noinline]] static void run(const kernel::Call& call, const Epilogue& epilogue) {
    using T = typename Types::out;
    using Index = kernel::in_t<Types, 1>;
    const kernel::Operand &up = call.in[0], &out = call.out;
    const kernel::Slide s(out, up, call.attributes);
    if (tiled(s.y) && tiled(s.x)) return by_windows<T, Index>(call, s, epilogue);
    const std::int64_t channels = out[3];
    kernel::detail::unpool<T>(
        call, s, channels, out[0], epilogue,
        [&](auto wide, std::int64_t place, std::int64_t, std::int64_t, std::int64_t tap, std::int64_t c) {
          return to_winner<decltype(wide)::value>(up.as<const T>() + place * channels + c,
                                                  call.in[1].as<const Index>() + place * channels + c, tap);
        });
  }

 private:
  /// Whether windows lie side by side and cover everything: each pixel then has one.
  static bool tiled(const kernel::Axis& a) {
    return a.stride == a.taps && a.before == 0 && a.places * a.stride == a.source;
  }

  template <bool Wide, class T, class Index>
  CROCHET_ALWAYS_INLINE static auto to_winner(const T* up, const Index* winner, std::int64_t tap) {
    using I = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;
    const auto won = simd::convert<Index, I, Wide>(simd::load<Index, Wide>(winner)) == static_cast<I>(tap);
    return won ? simd::load<T, Wide>(up) : simd::reg_t<T, Wide>{};
  }

  template <class T, class Index, class Epilogue>
  static void by_windows(const kernel::Call& call, const kernel::Slide& s, const Epilogue& epilogue) {
    const std::int64_t channels = call.out[3];
    const kernel::Range mine = call.worker.part(call.out[0] * s.y.places);
    const T* up = call.in[0].as<const T>() + mine.from * s.x.places * channels;
    const Index* winner = call.in[1].as<const Index>() + mine.from * s.x.places * channels;
    for (std::int64_t r = mine.from; r < mine.to; ++r) {
      for (std::int64_t ox = 0; ox < s.x.places; ++ox, up += channels, winner += channels) {
        const std::int64_t corner = r * s.y.stride * s.x.source + ox * s.x.stride;
        kernel::detail::over_channels(
            channels,
            [&](std::int64_t c) {
              for (std::int64_t i = 0, tap = 0; i < s.y.taps; ++i) {
                for (std::int64_t k = 0; k < s.x.taps; ++k, ++tap) {
                  const simd::vec<T> v[1] = {to_winner<true>(up + c, winner + c, tap)};
                  epilogue.template vectors<1>(corner + i * s.x.source + k, c, v);
                }
              }
            },
            [&](std::int64_t c) {
              for (std::int64_t i = 0, tap = 0; i < s.y.taps; ++i) {
                for (std::int64_t k = 0; k < s.x.taps; ++k, ++tap) {
                  const T v = to_winner<false>(up + c, winner + c, tap);
                  epilogue.row(corner + i * s.x.source + k, c, 1, &v);
                }
              }
            });
      }
    }
  }
};

template <>
struct Kernel<&op::mean_pool> {
  template <class Backend, class Types, class Epilogue>
  [[gnu::noinline]] static void run(const kernel::Call& call, const Epilogue& epilogue) {
    using T = typename Types::out;
    kernel::detail::pool<T>(call, epilogue, [](std::int64_t rows, std::int64_t columns, auto at) {
      auto sum = at(0, 0);
      for (std::int64_t i = 0; i < rows; ++i) {
        for (std::int64_t k = i == 0 ? 1 : 0; k < columns; ++k) sum += at(i, k);
      }
      return decltype(sum)(sum * (T{1} / static_cast<T>(rows * columns)));
    });
  }
};

template <>
struct Kernel<&op::mean_pool_gradient> {
  template <class Backend, class Types, class Epilogue>
  [[gnu::noinline]] static void run(const kernel::Call& call, const Epilogue& epilogue) {
    using T = typename Types::out;
    const kernel::Operand &up = call.in[0], &out = call.out;
    const kernel::Slide s(out, up, call.attributes);
    const std::int64_t channels = out[3];
    kernel::detail::unpool<T>(
        call, s, channels, out[0], epilogue,
        [&](auto wide, std::int64_t place, std::int64_t oy, std::int64_t ox, std::int64_t, std::int64_t c) {
          constexpr bool Wide = decltype(wide)::value;
          const std::int64_t n = kernel::detail::Clipped(s.y, oy).size() * kernel::detail::Clipped(s.x, ox).size();
          const auto v = simd::load<T, Wide>(up.as<const T>() + place * channels + c);
          return simd::reg_t<T, Wide>(v * (T{1} / static_cast<T>(n)));
        });
  }
};

}  // namespace crochet
