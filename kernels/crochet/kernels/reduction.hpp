// SPDX-License-Identifier: Apache-2.0
// Which operation joins elements how, for loops that end in a reduction.
#pragma once
#include <crochet/graph/ops/reductions.hpp>
#include <crochet/kernels/accumulate.hpp>

namespace crochet::kernel {

/// A reduction: how elements are joined (kernels/accumulate.hpp), and what their total becomes. An operation that
/// Op::reduces specialises it.
template <const Op* O>
struct Reduction;

namespace detail {
template <class H>
struct PlainReduction {
  using How = H;
  template <class T, class S>
  CROCHET_ALWAYS_INLINE static T finish(S total, std::int64_t) {
    return static_cast<T>(total);
  }
};
}  // namespace detail

template <>
struct Reduction<&op::reduce_sum> : detail::PlainReduction<Sum> {};
template <>
struct Reduction<&op::reduce_prod> : detail::PlainReduction<Product> {};
template <>
struct Reduction<&op::reduce_max> : detail::PlainReduction<Max> {};
template <>
struct Reduction<&op::reduce_min> : detail::PlainReduction<Min> {};
template <>
struct Reduction<&op::reduce_mean> {
  using How = Sum;
  /// The mean over n elements; NaN over none.
  template <class T, class S>
  CROCHET_ALWAYS_INLINE static T finish(S total, std::int64_t n) {
    return static_cast<T>(total / static_cast<S>(n));
  }
};

/// What totals are kept in from block to block: the element type, where joining does not round.
template <class How, class T>
using sum_t = std::conditional_t<How::rounds, total_t<T>, simd::cell_t<T>>;

}  // namespace crochet::kernel
