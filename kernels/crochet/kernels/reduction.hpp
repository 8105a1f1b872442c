// SPDX-License-Identifier: Apache-2.0
// The join function of each reduction, for loops that end in one.
#pragma once
#include <crochet/base/instruction_set.hpp>
#include <crochet/graph/ops/reductions.hpp>
#include <crochet/kernels/accumulate.hpp>

namespace crochet::kernel::CROCHET_ISA {

/// A reduction: how elements are joined (kernels/accumulate.hpp), and how the result is computed from their total.
/// Specialise it for an operation with Op::reduces.
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
  /// The mean over n elements; NaN for n = 0.
  template <class T, class S>
  CROCHET_ALWAYS_INLINE static T finish(S total, std::int64_t n) {
    return static_cast<T>(total / static_cast<S>(n));
  }
};

/// The type of totals between blocks: total_t if joining rounds, else the element type.
template <class How, class T>
using sum_t = std::conditional_t<How::rounds, total_t<T>, simd::cell_t<T>>;

}  // namespace crochet::kernel::CROCHET_ISA
