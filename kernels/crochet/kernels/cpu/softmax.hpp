// SPDX-License-Identifier: Apache-2.0
// Softmax and related functions: along the last axis row by row, along other axes a strip of columns at a time.
#pragma once
#include <crochet/base/instruction_set.hpp>
#include <crochet/graph/ops/softmax.hpp>
#include <crochet/kernels/call.hpp>
#include <crochet/kernels/rows.hpp>
#include <crochet/kernels/simd_exp.hpp>
#include <crochet/kernels/simd_log.hpp>

namespace crochet {

namespace kernel::CROCHET_ISA::detail {

/// The factor for exp_of_below(): its `unit` is the scale of the argument times exp_unit.
template <class T>
inline constexpr T exp_unit = std::is_same_v<T, float> ? T(1.44269504088896341) : T(1);

/// exp(scale x) for scale x <= 0, as in a softmax; `unit` is scale times exp_unit. float: as a power of two, with a
/// minimax polynomial of degree 5 for the fraction in [-1/2, 1/2], error within 2.2e-7. Results below the least normal
/// number are 0.
template <class T>
CROCHET_ALWAYS_INLINE simd::vec<T> exp_of_below(const simd::vec<T>& x, T unit) {
  if constexpr (!std::is_same_v<T, float>) {
    return simd::exp(static_cast<simd::vec<T>>(x * unit));
  } else {
    using V = simd::vec<float>;
    using U = simd::vec<std::uint32_t>;  // unsigned: the addition may wrap where the result is not used
    const V y = x * unit;
    // The lowest bits of the sum are the rounded exponent; for NaN they are those of its payload.
    const V shifted = y + 12582912.F, f = y - (shifted - 12582912.F);
    V p = f * 1.327647245e-3F + 9.675540961e-3F;
    p = p * f + 5.550713092e-2F;
    p = p * f + 2.402212024e-1F;
    p = p * f + 6.93146944e-1F;
    p = p * f + 1.F;
    const V e = V(U(p) + (U(shifted) << 23));
    return y < -125.F ? V{} : (y == y ? e : y);
  }
}

/// The sum of exp(scale (z - top)) along a row. Keep: the exponentials are stored in `out`.
template <bool Keep, class T>
CROCHET_ALWAYS_INLINE T exp_along(const T* z, std::int64_t n, T top, T* out, T scale = T(1)) {
  const T unit = scale * exp_unit<T>;
  // Inline: g++ warns about the ABI of a function that returns a vector wider than the registers.
  return simd::sum_along<T>(
      n, [&](std::int64_t j, auto how) __attribute__((always_inline)) {
        const simd::vec<T> below = simd::load(z + j, how, -std::numeric_limits<T>::infinity()) - top;
        const simd::vec<T> e = exp_of_below<T>(below, unit);
        if constexpr (Keep) simd::store(out + j, e, how);
        return e;
      });
}

/// Computes a row of finish(e, 1 / sum(e), j, how) with e = exp(scale (z - max(z))). A row of one vector stays in its
/// register. `out` may be z.
template <class T, class Finish>
CROCHET_ALWAYS_INLINE void softmax_row(const T* z, std::int64_t n, T* out, Finish finish, T scale = T(1)) {
  if (n <= simd::lanes) {
    const simd::First all{n};
    const simd::vec<T> v = simd::load(z, all, -std::numeric_limits<T>::infinity());
    const simd::vec<T> e = exp_of_below<T>(v - simd::across_max(v), scale * exp_unit<T>);
    simd::store(out, finish(e, T(1) / simd::across_sum(e), std::int64_t{0}, all), all);
    return;
  }
  const T share = T(1) / exp_along<true>(z, n, simd::max_along(z, n), out, scale);
  simd::along(n, [&](std::int64_t j, auto how) {
    simd::store(out + j, finish(simd::load(out + j, how, T(0)), share, j, how), how);
  });
}

/// log(sum(exp(z - shift))), and the shift: the maximum, or 0 if that is infinite.
template <class T>
struct LogSum {
  T shift, log;

  CROCHET_ALWAYS_INLINE LogSum(const T* z, std::int64_t n) : shift(simd::max_along(z, n)) {
    if (shift - shift == T(0)) {
      log = std::log(exp_along<false>(z, n, shift, static_cast<T*>(nullptr)));
    } else {
      shift = log = T(0);
      for (std::int64_t j = 0; j < n; ++j) log += std::exp(z[j]);
      log = std::log(log);
    }
  }
};

/// A strip of columns, at most one vector wide, along an axis: one vector for each index on the axis.
template <class T, class How>
struct Strip {
  std::int64_t n, pitch;
  How how;

  CROCHET_ALWAYS_INLINE simd::vec<T> at(const T* p, std::int64_t i, T fill = T(0)) const {
    return simd::load(p + i * pitch, how, fill);
  }
  CROCHET_ALWAYS_INLINE void put(T* p, std::int64_t i, const simd::vec<T>& v) const {
    simd::store(p + i * pitch, v, how);
  }
  CROCHET_ALWAYS_INLINE simd::vec<T> max(const T* p) const {
    simd::vec<T> top = simd::splat<T, true>(-std::numeric_limits<T>::infinity());
    for (std::int64_t i = 0; i < n; ++i) {
      const simd::vec<T> v = at(p, i);
      top = v > top ? v : top;
    }
    return top;
  }
  template <class F>
  CROCHET_ALWAYS_INLINE simd::vec<T> sum(F f) const {
    simd::vec<T> s{};
    for (std::int64_t i = 0; i < n; ++i) s += f(i);
    return s;
  }
};

/// Splits [outer, n, inner] over the team. Calls row(offset, n) if the axis is the last, else strip(offset, Strip).
/// `offset` counts elements of the whole tensor. The offset in the result without the axis is passed too.
template <class T, class Row, class OfStrip>
CROCHET_ALWAYS_INLINE void each_line(const Call& call, Row row, OfStrip strip) {
  const Operand& x = call.in[0];
  const auto axis = static_cast<std::size_t>(call.attributes.ints[0]);
  const std::int64_t n = x[axis], inner = x.size(axis + 1);
  std::int64_t outer = 1;
  for (std::size_t i = 0; i < axis; ++i) outer *= x[i];
  if (inner == 1) {
    const Range mine = call.worker.part(outer);
    for (std::int64_t i = mine.from; i < mine.to; ++i) row(i * n, i, n);
    return;
  }
  const std::int64_t strips = (inner + simd::lanes - 1) / simd::lanes;
  const Range mine = call.worker.part(outer * strips);
  for (std::int64_t u = mine.from; u < mine.to; ++u) {
    const std::int64_t o = u / strips, j = u % strips * simd::lanes;
    if (inner - j >= simd::lanes) {
      strip(o * n * inner + j, o * inner + j, Strip<T, simd::Whole>{n, inner, {}});
    } else {
      strip(o * n * inner + j, o * inner + j, Strip<T, simd::First>{n, inner, {inner - j}});
    }
  }
}
}  // namespace kernel::CROCHET_ISA::detail

template <>
struct Kernel<&op::softmax> {
  template <class Backend, class Types>
  [[gnu::noinline]] static void run(const kernel::Call& call) {
    using T = typename Types::out;
    const T* x = call.in[0].as<const T>();
    T* y = call.out.as<T>();
    kernel::detail::each_line<T>(
        call,
        [&](std::int64_t at, std::int64_t, std::int64_t n) {
          kernel::detail::softmax_row(x + at, n, y + at,
                                      [](const auto& e, T scale, std::int64_t, auto) { return e * scale; });
        },
        [&](std::int64_t at, std::int64_t, auto strip) {
          const simd::vec<T> top = strip.max(x + at);
          const simd::vec<T> total = strip.sum([&](std::int64_t i) {
            const simd::vec<T> e = simd::exp(strip.at(x + at, i) - top);
            strip.put(y + at, i, e);
            return e;
          });
          const simd::vec<T> scale = T(1) / total;
          for (std::int64_t i = 0; i < strip.n; ++i) strip.put(y + at, i, strip.at(y + at, i) * scale);
        });
  }
};

template <>
struct Kernel<&op::log_softmax> {
  template <class Backend, class Types>
  [[gnu::noinline]] static void run(const kernel::Call& call) {
    using T = typename Types::out;
    const T* x = call.in[0].as<const T>();
    T* y = call.out.as<T>();
    kernel::detail::each_line<T>(
        call,
        [&](std::int64_t at, std::int64_t, std::int64_t n) {
          const kernel::detail::LogSum<T> s(x + at, n);
          const T log = s.log + (s.log - s.log);  // NaN if it is infinite, as x - max(x) is
          simd::along(n, [&](std::int64_t j, auto how) {
            simd::store(y + at + j, (simd::load(x + at + j, how, T(0)) - s.shift) - log, how);
          });
        },
        [&](std::int64_t at, std::int64_t, auto strip) {
          const simd::vec<T> top = strip.max(x + at);
          const simd::vec<T> log =
              simd::log(strip.sum([&](std::int64_t i) { return simd::exp(strip.at(x + at, i) - top); }));
          for (std::int64_t i = 0; i < strip.n; ++i) strip.put(y + at, i, (strip.at(x + at, i) - top) - log);
        });
  }
};

template <>
struct Kernel<&op::logsumexp> {
  template <class Backend, class Types>
  [[gnu::noinline]] static void run(const kernel::Call& call) {
    using T = typename Types::out;
    const T* x = call.in[0].as<const T>();
    T* y = call.out.as<T>();
    kernel::detail::each_line<T>(
        call,
        [&](std::int64_t at, std::int64_t to, std::int64_t n) {
          const kernel::detail::LogSum<T> s(x + at, n);
          y[to] = s.log + s.shift;
        },
        [&](std::int64_t at, std::int64_t to, auto strip) {
          simd::vec<T> top = strip.max(x + at);
          top = top - top != simd::vec<T>{} ? simd::vec<T>{} : top;
          const simd::vec<T> sum = strip.sum([&](std::int64_t i) { return simd::exp(strip.at(x + at, i) - top); });
          strip.put(y + to, 0, simd::log(sum) + top);
        });
  }
};

template <>
struct Kernel<&op::softmax_gradient> {
  template <class Backend, class Types>
  [[gnu::noinline]] static void run(const kernel::Call& call) {
    using T = typename Types::out;
    const T *y = call.in[0].as<const T>(), *g = call.in[1].as<const T>();
    T* out = call.out.as<T>();
    kernel::detail::each_line<T>(
        call,
        [&](std::int64_t at, std::int64_t, std::int64_t n) {
          const T dot = simd::sum_along<T>(n, [&](std::int64_t j, auto how) {
            return simd::load(y + at + j, how, T(0)) * simd::load(g + at + j, how, T(0));
          });
          simd::along(n, [&](std::int64_t j, auto how) {
            const simd::vec<T> v = simd::load(y + at + j, how, T(0));
            simd::store(out + at + j, v * (simd::load(g + at + j, how, T(0)) - dot), how);
          });
        },
        [&](std::int64_t at, std::int64_t, auto strip) {
          const simd::vec<T> dot = strip.sum([&](std::int64_t i) { return strip.at(y + at, i) * strip.at(g + at, i); });
          for (std::int64_t i = 0; i < strip.n; ++i)
            strip.put(out + at, i, strip.at(y + at, i) * (strip.at(g + at, i) - dot));
        });
  }
};

template <>
struct Kernel<&op::log_softmax_gradient> {
  template <class Backend, class Types>
  [[gnu::noinline]] static void run(const kernel::Call& call) {
    using T = typename Types::out;
    const T *y = call.in[0].as<const T>(), *g = call.in[1].as<const T>();
    T* out = call.out.as<T>();
    kernel::detail::each_line<T>(
        call,
        [&](std::int64_t at, std::int64_t, std::int64_t n) {
          const T total =
              simd::sum_along<T>(n, [&](std::int64_t j, auto how) { return simd::load(g + at + j, how, T(0)); });
          simd::along(n, [&](std::int64_t j, auto how) {
            const simd::vec<T> p = simd::exp(simd::load(y + at + j, how, T(0)));
            simd::store(out + at + j, simd::load(g + at + j, how, T(0)) - p * total, how);
          });
        },
        [&](std::int64_t at, std::int64_t, auto strip) {
          const simd::vec<T> total = strip.sum([&](std::int64_t i) { return strip.at(g + at, i); });
          for (std::int64_t i = 0; i < strip.n; ++i) {
            strip.put(out + at, i, strip.at(g + at, i) - simd::exp(strip.at(y + at, i)) * total);
          }
        });
  }
};

}  // namespace crochet
