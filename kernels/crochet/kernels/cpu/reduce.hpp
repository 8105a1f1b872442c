// SPDX-License-Identifier: Apache-2.0
// Reductions of [outer, n, inner] over the middle axis: along rows, or down columns. Floating sums are kept in the
// element type within blocks of limited length and in double between blocks (kernels/accumulate.hpp).
#pragma once
#include <crochet/base/instruction_set.hpp>
#include <crochet/graph/ops/reductions.hpp>
#include <crochet/kernels/accumulate.hpp>
#include <crochet/kernels/call.hpp>
#include <crochet/kernels/epilogue.hpp>
#include <crochet/kernels/rows.hpp>

namespace crochet {

namespace kernel::CROCHET_ISA::detail {

struct Middle {
  std::int64_t outer = 1, n = 1, inner = 1;

  Middle(const Operand& in, const Attributes& a) {
    bool seen = false;
    CROCHET_SHORT_LOOP
    for (std::size_t i = 0; i < in.rank; ++i) {
      const bool reduced = ((static_cast<unsigned>(a.ints[0]) >> i) & 1U) != 0;
      seen = seen || reduced;
      (reduced ? n : (seen ? inner : outer)) *= in[i];
    }
  }
};

/// The code paths needed by a set of reductions that share their code: along rows, down columns.
struct ReducePaths {
  bool rows = true, columns = true;

  static constexpr ReducePaths none() { return {false, false}; }
  template <class Types>
  static constexpr void add(ReducePaths& all, const Attributes& a, const Shape* in, const Shape&) {
    bool seen = false, one = true;
    CROCHET_SHORT_LOOP
    for (std::size_t i = 0; i < in->rank; ++i) {
      const bool reduced = ((static_cast<unsigned>(a.ints[0]) >> i) & 1U) != 0;
      seen = seen || reduced;
      if (seen && !reduced && !(*in)[i].is_one()) one = false;
      all.rows = all.rows || (seen && !reduced && !(*in)[i].is_static());
    }
    (one ? all.rows : all.columns) = true;
  }
};

/// The type of partial results: double where joining rounds.
template <class How, class T>
using partial_t = std::conditional_t<How::rounds, total_t<T>, T>;

/// The number of columns reduced together, in vectors.
inline constexpr int strip_vectors = 4;
inline constexpr std::int64_t reduced_strip = strip_vectors * simd::lanes;

/// Joins rows [0, n) of W vectors of columns (the last possibly partial) to `to`, which contains `nothing` or earlier
/// partial results. Takes 8 / W rows at a time to hide the latency of additions.
template <class How, class T, int W, class Width>
void join_columns(const T* p, std::int64_t n, std::int64_t pitch, Width width, partial_t<How, T>* to) {
  constexpr int rows = 8 / W;
  constexpr std::int64_t block = How::rounds ? 256 * rows : INT64_MAX;
  const auto nothing = static_cast<T>(How::template nothing<T>);
  while (n > 0) {
    simd::vec<T> sum[rows][W];
    for (auto& row : sum) {
      for (simd::vec<T>& s : row) s = simd::splat<T, true>(nothing);
    }
    std::int64_t some = n < block ? n : block;
    n -= some;
    for (; some >= rows; some -= rows, p += rows * pitch) {
      CROCHET_UNROLL
      for (int r = 0; r < rows; ++r) {
        CROCHET_UNROLL
        for (int w = 0; w < W; ++w)
          sum[r][w] = How::join(sum[r][w], simd::load(p + r * pitch + w * simd::lanes, width, nothing));
      }
    }
    for (; some > 0; --some, p += pitch) {
      for (int w = 0; w < W; ++w) sum[0][w] = How::join(sum[0][w], simd::load(p + w * simd::lanes, width, nothing));
    }
    for (int w = 0; w < W; ++w) {
      for (int half = rows / 2; half > 0; half /= 2) {
        for (int r = 0; r < half; ++r) sum[r][w] = How::join(sum[r][w], sum[r + half][w]);
      }
      T lanes[simd::lanes];
      simd::store(lanes, sum[0][w]);
      CROCHET_SHORT_LOOP
      for (std::int64_t k = 0; k < width.n; ++k) {
        partial_t<How, T>& total = to[w * simd::lanes + k];
        total = How::join(total, static_cast<partial_t<How, T>>(lanes[k]));
      }
    }
  }
}
/// As above, for at most a strip of columns.
template <class How, class T>
void join_strip(const T* p, std::int64_t n, std::int64_t pitch, std::int64_t width, partial_t<How, T>* to) {
  if (width == reduced_strip) return join_columns<How, T, strip_vectors>(p, n, pitch, simd::Whole{}, to);
  std::int64_t j = 0;
  for (; j + simd::lanes <= width; j += simd::lanes) {
    join_columns<How, T, 1>(p + j, n, pitch, simd::Whole{}, to + j);
  }
  if (j < width) join_columns<How, T, 1>(p + j, n, pitch, simd::First{width - j}, to + j);
}

/// The reductions of one call: elements T joined by How; sums are divided by `divisor` (for means).
template <class How, class T, ReducePaths P = ReducePaths{}>
class Reducer {
 public:
  using Partial = partial_t<How, T>;

  explicit Reducer(const Call& call)
      : in_(call.in[0].as<const T>()), worker_(call.worker), m_(call.in[0], call.attributes) {}

  std::int64_t count() const { return m_.n; }

  /// Calls put(first flat index of the result, count, values) for this worker's part.
  template <class Put>
  void run(double divisor, Put put) {
    const std::int64_t strips = (m_.inner + reduced_strip - 1) / reduced_strip;
    const std::int64_t pieces = m_.inner == 1 ? m_.outer : m_.outer * strips;
    const int parts = worker_.parts_of(m_.outer * m_.n * m_.inner, worth_a_part);
    if (parts > 1 && pieces < 4 * parts) return run_in_parts(parts, divisor, put);
    const Range mine = m_.inner == 1 ? worker_.part(m_.outer, reduced_strip) : worker_.part(pieces);
    if (along_rows()) {
      for (std::int64_t o = mine.from; o < mine.to; o += reduced_strip) {
        rows(o, mine.to - o < reduced_strip ? mine.to - o : reduced_strip, divisor, put);
      }
    } else {
      for (std::int64_t u = mine.from; u < mine.to; ++u) strip(u / strips, u % strips * reduced_strip, divisor, put);
    }
  }

 private:
  bool along_rows() const { return !P.columns || (P.rows && m_.inner == 1); }
  /// The least number of elements in a part of a reduction.
  static constexpr std::int64_t worth_a_part = 1 << 14;

  template <class Put>
  void rows(std::int64_t o, std::int64_t count, double divisor, Put& put) {
    T values[reduced_strip];
    for (std::int64_t k = 0; k < count; ++k) {
      values[k] = finish(static_cast<Partial>(join_run<How, T>(in_ + (o + k) * m_.n, m_.n)), divisor);
    }
    put(o, count, values);
  }
  template <class Put>
  void strip(std::int64_t o, std::int64_t j, double divisor, Put& put) {
    Partial sums[reduced_strip];
    const std::int64_t width = m_.inner - j < reduced_strip ? m_.inner - j : reduced_strip;
    clear(sums, width);
    join_strip<How, T>(in_ + o * m_.n * m_.inner + j, m_.n, m_.inner, width, sums);
    hand_over(o * m_.inner + j, width, sums, divisor, put);
  }
  template <class Put>
  static void hand_over(std::int64_t at, std::int64_t width, const Partial* sums, double divisor, Put& put) {
    T values[reduced_strip];
    CROCHET_SHORT_LOOP
    for (std::int64_t k = 0; k < width; ++k) values[k] = finish(sums[k], divisor);
    put(at, width, values);
  }

  /// Few results of many elements: the middle axis is divided into parts. Every member joins the rows of its parts,
  /// then the first joins the parts' results in order.
  template <class Put>
  void run_in_parts(int parts, double divisor, Put& put) {
    const std::int64_t results = m_.outer * m_.inner;
    const Range mine = worker_.part(parts);
    Partial* const sums = worker_.template scratch<Partial>(mine.size() * results);
    clear(sums, mine.size() * results);
    for (std::int64_t p = mine.from; p < mine.to; ++p) {
      Partial* const to = sums + (p - mine.from) * results;
      for (std::int64_t o = 0; o < m_.outer; ++o) join_part(o, part_of(m_.n, p, parts), to + o * m_.inner);
    }
    worker_.sync();
    if (worker_.index() == 0) {
      worker_.template each_part_of_sum<Partial>(parts, results, [&](const Partial* more) {
        if (more == sums) return;  // the first part, to which the others are joined
        CROCHET_SHORT_LOOP
        for (std::int64_t k = 0; k < results; ++k) sums[k] = How::join(sums[k], more[k]);
      });
      for (std::int64_t k = 0; k < results; k += reduced_strip) {
        hand_over(k, results - k < reduced_strip ? results - k : reduced_strip, sums + k, divisor, put);
      }
    }
    worker_.sync();  // from here on the scratch memory may be reused
  }
  void join_part(std::int64_t o, Range rows, Partial* to) {
    const T* p = in_ + (o * m_.n + rows.from) * m_.inner;
    if (along_rows()) {
      *to = static_cast<Partial>(join_run<How, T>(p, rows.size()));
      return;
    }
    for (std::int64_t j = 0; j < m_.inner; j += reduced_strip) {
      join_strip<How, T>(p + j, rows.size(), m_.inner, m_.inner - j < reduced_strip ? m_.inner - j : reduced_strip,
                         to + j);
    }
  }

  static void clear(Partial* sums, std::int64_t n) {
    CROCHET_SHORT_LOOP
    for (std::int64_t k = 0; k < n; ++k) sums[k] = How::template nothing<Partial>;
  }
  static T finish(Partial sum, double divisor) {
    return divisor == 1 ? static_cast<T>(sum) : static_cast<T>(static_cast<double>(sum) / divisor);
  }

  const T* in_;
  Worker& worker_;
  Middle m_;
};

/// The kernel of a reduction with an epilogue.
template <class How>
struct ReduceKernel {
  using Paths = ReducePaths;
  template <class Backend, class Types, Paths P, class Epilogue>
  [[gnu::noinline]] static void run(const Call& call, const Epilogue& epilogue) {
    using T = typename Types::out;
    Reducer<How, T, P>(call).run(
        1, [&](std::int64_t at, std::int64_t n, const T* values) { epilogue.row(0, at, n, values); });
  }
};
/// The kernel of a reduction that stores its results.
template <class How>
struct StoringReduceKernel {
  template <class Backend, class Types>
  [[gnu::noinline]] static void run(const Call& call) {
    using T = simd::cell_t<typename Types::out>;
    T* const out = call.out.as<T>();
    Reducer<How, T>(call).run(1, [&](std::int64_t at, std::int64_t n, const T* values) {
      for (std::int64_t k = 0; k < n; ++k) out[at + k] = values[k];
    });
  }
};
}  // namespace kernel::CROCHET_ISA::detail

template <>
struct Kernel<&op::reduce_sum> : kernel::detail::ReduceKernel<kernel::Sum> {};
template <>
struct Kernel<&op::reduce_prod> : kernel::detail::ReduceKernel<kernel::Product> {};
template <>
struct Kernel<&op::reduce_max> : kernel::detail::StoringReduceKernel<kernel::Max> {};
template <>
struct Kernel<&op::reduce_min> : kernel::detail::StoringReduceKernel<kernel::Min> {};
template <>
struct Kernel<&op::reduce_any> : kernel::detail::StoringReduceKernel<kernel::Any> {};
template <>
struct Kernel<&op::reduce_all> : kernel::detail::StoringReduceKernel<kernel::All> {};

template <>
struct Kernel<&op::reduce_mean> {
  using Paths = kernel::detail::ReducePaths;
  template <class Backend, class Types, Paths P, class Epilogue>
  [[gnu::noinline]] static void run(const kernel::Call& call, const Epilogue& epilogue) {
    using T = typename Types::out;
    kernel::detail::Reducer<kernel::Sum, T, P> sums(call);
    sums.run(static_cast<double>(sums.count()),
             [&](std::int64_t at, std::int64_t n, const T* values) { epilogue.row(0, at, n, values); });
  }
};

}  // namespace crochet
