// SPDX-License-Identifier: Apache-2.0
// Reductions and counts on a device.
#pragma once
#include <crochet/graph/ops/broadcast_to.hpp>
#include <crochet/graph/ops/reductions.hpp>
#include <crochet/kernels/cuda/epilogue.hpp>
#include <crochet/kernels/cuda/reduce_lines.hpp>

namespace crochet::cuda {

namespace detail {

/// A tensor as [outer, n, inner] around its reduced axes.
struct Middle {
  int outer = 1, n = 1, inner = 1;

  CROCHET_ALWAYS_INLINE static constexpr Middle of(const TableOperand& in, int mask) {
    Middle m;
    bool seen = false;
    CROCHET_DEVICE_UNROLL(1)
    for (int i = 0; i < in.rank; ++i) {
      const bool reduced = ((mask >> i) & 1) != 0;
      seen = seen || reduced;
      (reduced ? m.n : seen ? m.inner : m.outer) *= in.extents[i];
    }
    return m;
  }
};

/// Not inlined: a call costs less code than the loop.
CROCHET_DEVICE_NOINLINE inline Middle middle_of(const Call& call) {
  return Middle::of(call.in(0).of, call.attribute(0));
}

/// The memory of every reduction's kernel.
struct ReduceRoom {
  static constexpr Room room(const Sizes& s) {
    const Middle m = Middle::of(s.in(0), s.step.ints[0]);
    return LineParts::of(m.outer, m.n, m.inner).room();
  }
};

template <class How, bool Mean = false>
struct Reduce : ReduceRoom {
  template <class Types, class Block, class Epilogue>
  CROCHET_DEVICE static void run(Block& block, const Call& call, const Epilogue& epilogue) {
    using T = typename Types::out;
    const Operand in = call.in(0);
    const Middle m = middle_of(call);
    const T* const x = in.as<const T>();
    reduce_lines<How, T>(
        block, call, m.outer, m.n, m.inner,
        [&](int o, int k, int j) { return x[(std::int64_t{1} * o * m.n + k) * m.inner + j]; },
        [&](int at, auto total) {
          if constexpr (Mean) total /= m.n;
          epilogue.element(0, at, static_cast<T>(total));
        });
  }
};
template <class How>
struct StoringReduce : ReduceRoom {
  template <class Types, class Block>
  CROCHET_DEVICE static void run(Block& block, const Call& call, NoEpilogue) {
    using T = simd::cell_t<typename Types::out>;
    const Operand in = call.in(0);
    const Middle m = middle_of(call);
    const T* const x = in.as<const T>();
    T* const out = call.out().template as<T>();
    reduce_lines<How, T>(
        block, call, m.outer, m.n, m.inner,
        [&](int o, int k, int j) { return x[(std::int64_t{1} * o * m.n + k) * m.inner + j]; },
        [&](int at, auto total) { out[at] = static_cast<T>(total); });
  }
};

/// The first index of the greatest or least element of each line; of NaN, if there is one. A warp for each line.
template <class How>
struct FirstOf {
  template <class Types, class Block>
  CROCHET_DEVICE static void run(Block& block, const Call& call, NoEpilogue) {
    using T = simd::cell_t<kernel::in_t<Types>>;
    const Operand in = call.in(0);
    const Middle m = middle_of(call);
    const T* const x = in.as<const T>();
    std::int32_t* const out = call.out().template as<std::int32_t>();
    const int lane = block.thread() % warp_size;
    each_warp(block, call.first(), m.outer * m.inner, [&](int line) {
      const T* const from = x + std::int64_t{1} * (line / m.inner) * m.n * m.inner + line % m.inner;
      T most = static_cast<T>(How::template nothing<T>);
      for (int k = lane; k < m.n; k += warp_size) most = How::join(most, from[std::int64_t{1} * k * m.inner]);
      most = join_warp<How>(block, most);
      int first = m.n == 0 ? 0 : m.n - 1;
      for (int k = lane; k < m.n; k += warp_size) {
        const T e = from[std::int64_t{1} * k * m.inner];
        if ((e == most || e != e) && k < first) first = k;
      }
      first = join_warp<kernel::Min>(block, first);
      if (lane == 0) out[line] = first;
    });
  }
};

}  // namespace detail

template <>
struct Kernel<&op::reduce_sum> : detail::Reduce<kernel::Sum> {};
template <>
struct Kernel<&op::reduce_mean> : detail::Reduce<kernel::Sum, true> {};
template <>
struct Kernel<&op::reduce_prod> : detail::Reduce<kernel::Product> {};
template <>
struct Kernel<&op::reduce_max> : detail::StoringReduce<kernel::Max> {};
template <>
struct Kernel<&op::reduce_min> : detail::StoringReduce<kernel::Min> {};
template <>
struct Kernel<&op::reduce_any> : detail::StoringReduce<kernel::Any> {};
template <>
struct Kernel<&op::reduce_all> : detail::StoringReduce<kernel::All> {};
template <>
struct Kernel<&op::argmax> : detail::FirstOf<kernel::Max> {};
template <>
struct Kernel<&op::argmin> : detail::FirstOf<kernel::Min> {};

template <>
struct Kernel<&op::count> {
  template <class Types, class Block>
  CROCHET_DEVICE static void run(Block& block, const Call& call, NoEpilogue) {
    if (block.block() != call.first() || block.thread() != 0) return;
    std::int64_t n = static_cast<std::int64_t>(call.real(0));
    CROCHET_DEVICE_UNROLL(1)
    for (int s = 0; s < table_symbols; ++s) {
      CROCHET_DEVICE_UNROLL(1)
      for (int p = call.attribute(s); p > 0; --p) n *= call.tables.dims[s];
    }
    using T = typename Types::out;
    *call.out().template as<T>() = static_cast<T>(n);
  }
};

}  // namespace crochet::cuda
