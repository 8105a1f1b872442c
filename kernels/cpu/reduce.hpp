// SPDX-License-Identifier: Apache-2.0
// Reductions of [outer, n, inner] over the middle, argmax, repetition, and counts. Floating sums are kept in double:
// they stay exact to the element type's rounding whatever the length.
#pragma once
#include <limits>

#include <crochet/graph/ops/reduce.hpp>
#include <crochet/kernels/call.hpp>
#include <crochet/kernels/cpu/axes.hpp>
#include <crochet/kernels/epilogue.hpp>
#include <crochet/kernels/panels.hpp>

namespace crochet {

namespace kernel::detail {

struct Middle {
  std::int64_t outer = 1, n = 1, inner = 1;

  Middle(const Operand& in, const Attributes& a) {
    bool seen = false;
    for (std::size_t i = 0; i < in.rank; ++i) {
      const bool reduced = ((static_cast<unsigned>(a.ints[0]) >> i) & 1U) != 0;
      seen = seen || reduced;
      (reduced ? n : (seen ? inner : outer)) *= in[i];
    }
  }
};

template <class T>
using sum_t = std::conditional_t<std::is_floating_point_v<T>, double, T>;

/// How results of a reduction are made: sum, scaled sum, or maximum. `nothing` is the result over no elements.
struct Sum {
  template <class T>
  static constexpr sum_t<T> nothing = {};
  template <class T>
  static sum_t<T> begin(T) {
    return {};
  }
  template <class S, class T>
  static S add(S s, T x) {
    return s + static_cast<S>(x);
  }
};
struct Max {
  template <class T>
  static constexpr sum_t<T> nothing = std::is_floating_point_v<T> ? -std::numeric_limits<sum_t<T>>::infinity()
                                                                  : std::numeric_limits<sum_t<T>>::lowest();
  template <class T>
  static sum_t<T> begin(T first) {
    return static_cast<sum_t<T>>(first);
  }
  template <class S, class T>
  static S add(S s, T x) {
    const S e = static_cast<S>(x);
    return s >= e ? s : (s == s ? e : s);
  }
};

/// A run of contiguous elements. Several accumulators, joined in order: fast, and the same on every run.
template <class How, class T>
sum_t<T> reduce_run(const T* p, std::int64_t n) {
  constexpr int many = 16;
  sum_t<T> total = How::begin(p[0]);
  std::int64_t i = 0;
  if (n >= many) {
    sum_t<T> part[many];
    for (int k = 0; k < many; ++k) part[k] = How::begin(p[k]);
    for (; i + many <= n; i += many) {
      for (int k = 0; k < many; ++k) part[k] = How::add(part[k], p[i + k]);
    }
    for (int k = 0; k < many; ++k) total = How::add(total, part[k]);
  }
  for (; i < n; ++i) total = How::add(total, p[i]);
  return total;
}

/// Columns [j0, j0 + width) of one [n, inner] matrix, width at most `strip`.
inline constexpr std::int64_t strip = 64;
template <class How, class T>
void reduce_columns(const T* p, std::int64_t n, std::int64_t inner, std::int64_t width, double scale, T* out) {
  sum_t<T> sums[strip];
  for (std::int64_t k = 0; k < width; ++k) sums[k] = How::begin(p[k]);
  for (std::int64_t i = 0; i < n; ++i) {
    if (width == strip) {
      for (std::int64_t k = 0; k < strip; ++k) sums[k] = How::add(sums[k], p[i * inner + k]);
    } else {
      for (std::int64_t k = 0; k < width; ++k) sums[k] = How::add(sums[k], p[i * inner + k]);
    }
  }
  for (std::int64_t k = 0; k < width; ++k) {
    out[k] = scale == 1 ? static_cast<T>(sums[k]) : static_cast<T>(static_cast<double>(sums[k]) * scale);
  }
}

/// Calls put(first flat index of the result, count, values) for this worker's part.
template <class How, class T, class Put>
void reduce(const Call& call, double scale, Put put) {
  const Middle m(call.in[0], call.attributes);
  const T* in = call.in[0].as<const T>();
  if (m.inner == 1) {
    const Range mine = call.worker.part(m.outer, strip);
    T row[strip];
    for (std::int64_t o = mine.from; o < mine.to; o += strip) {
      const std::int64_t count = mine.to - o < strip ? mine.to - o : strip;
      for (std::int64_t k = 0; k < count; ++k) {
        const sum_t<T> s = m.n == 0 ? How::template nothing<T> : reduce_run<How>(in + (o + k) * m.n, m.n);
        row[k] = scale == 1 ? static_cast<T>(s) : static_cast<T>(static_cast<double>(s) * scale);
      }
      put(o, count, row);
    }
    return;
  }
  const std::int64_t strips = (m.inner + strip - 1) / strip;
  const Range mine = call.worker.part(m.outer * strips);
  for (std::int64_t u = mine.from; u < mine.to; ++u) {
    const std::int64_t o = u / strips, j = u % strips * strip;
    const std::int64_t width = m.inner - j < strip ? m.inner - j : strip;
    T row[strip];
    if (m.n > 0) {
      reduce_columns<How>(in + o * m.n * m.inner + j, m.n, m.inner, width, scale, row);
    } else {
      for (std::int64_t k = 0; k < width; ++k)
        row[k] = static_cast<T>(scale * static_cast<double>(How::template nothing<T>));
    }
    put(o * m.inner + j, width, row);
  }
}
}  // namespace kernel::detail

template <>
struct Kernel<&op::reduce_sum> {
  template <class Backend, class Types, class Epilogue>
  [[gnu::noinline]] static void run(const kernel::Call& call, const Epilogue& epilogue) {
    using T = typename Types::out;
    kernel::detail::reduce<kernel::detail::Sum, T>(
        call, 1, [&](std::int64_t at, std::int64_t n, const T* values) { epilogue.row(0, at, n, values); });
  }
};

template <>
struct Kernel<&op::reduce_mean> {
  template <class Backend, class Types, class Epilogue>
  [[gnu::noinline]] static void run(const kernel::Call& call, const Epilogue& epilogue) {
    using T = typename Types::out;
    const double scale = 1.0 / static_cast<double>(kernel::detail::Middle(call.in[0], call.attributes).n);
    kernel::detail::reduce<kernel::detail::Sum, T>(
        call, scale, [&](std::int64_t at, std::int64_t n, const T* values) { epilogue.row(0, at, n, values); });
  }
};

template <>
struct Kernel<&op::reduce_max> {
  template <class Backend, class Types>
  [[gnu::noinline]] static void run(const kernel::Call& call) {
    using T = typename Types::out;
    T* out = call.out.as<T>();
    kernel::detail::reduce<kernel::detail::Max, T>(call, 1, [&](std::int64_t at, std::int64_t n, const T* values) {
      for (std::int64_t k = 0; k < n; ++k) out[at + k] = values[k];
    });
  }
};

template <>
struct Kernel<&op::argmax> {
  template <class Backend, class Types>
  [[gnu::noinline]] static void run(const kernel::Call& call) {
    using T = kernel::in_t<Types>;
    const kernel::detail::Middle m(call.in[0], call.attributes);
    const kernel::Range mine = call.worker.part(m.outer);
    for (std::int64_t o = mine.from; o < mine.to; ++o) {
      for (std::int64_t j = 0; j < m.inner; ++j) {
        const T* p = call.in[0].as<const T>() + o * m.n * m.inner + j;
        std::int64_t best = 0;
        for (std::int64_t i = 1; i < m.n; ++i) {
          if (p[i * m.inner] > p[best * m.inner]) best = i;
        }
        call.out.as<std::int32_t>()[o * m.inner + j] = static_cast<std::int32_t>(best);
      }
    }
  }
};

template <>
struct Kernel<&op::broadcast_to> {
  template <class Backend, class Types>
  [[gnu::noinline]] static void run(const kernel::Call& call) {
    using T = typename Types::out;
    const kernel::Operand &in = call.in[0], &out = call.out;
    if (in.layout == Layout::panels) {  // a copy: a variable in panels is never repeated
      const std::int64_t columns = in[in.rank - 1];
      if (call.worker.index() == 0) kernel::unpack(in.as<const T>(), in.size() / columns, columns, out.as<T>());
      return;
    }
    kernel::detail::repeat<kernel::detail::bits_t<sizeof(T)>>(call);
  }
};

template <>
struct Kernel<&op::count> {
  template <class Backend, class Types>
  static void run(const kernel::Call& call) {
    if (call.worker.index() != 0) return;
    Extent n(static_cast<std::int64_t>(call.attributes.reals[0]));
    for (std::size_t s = 0; s < max_symbols; ++s) {
      n.powers |= static_cast<std::uint32_t>(call.attributes.ints[s]) << (8 * s);
    }
    using T = typename Types::out;
    *call.out.as<T>() = static_cast<T>(n.at(call.dims));
  }
};

}  // namespace crochet
