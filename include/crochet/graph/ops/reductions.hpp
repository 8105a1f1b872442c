// SPDX-License-Identifier: Apache-2.0
// More reductions: minimum, product, logic, argmin, variance. Over all elements, or over the given axes (negative ones
// count from the right).
#pragma once
#include <crochet/graph/ops/reduce.hpp>

namespace crochet {

namespace detail {
constexpr TypedShape infer_logical_reduce(const OpInputs& in) {
  want_bool(in, 0);
  return infer_reduce(in);
}
constexpr void gradient_of_product(GradientScope& s);
}  // namespace detail

namespace op {
// Attributes as for reduce_sum.
inline constexpr Op reduce_min{.name = "reduce_min",
                               .infer = detail::infer_arithmetic_reduce,
                               .gradient = detail::gradient_of_max,
                               .reduces = true};
inline constexpr Op reduce_prod{.name = "reduce_prod",
                                .infer = detail::infer_arithmetic_reduce,
                                .gradient = detail::gradient_of_product,
                                .epilogue_rows = 0,
                                .reduces = true};
inline constexpr Op reduce_any{"reduce_any", OpKind::kernel, detail::infer_logical_reduce};
inline constexpr Op reduce_all{"reduce_all", OpKind::kernel, detail::infer_logical_reduce};
/// The first index of the minimum along one axis, as int32.
inline constexpr Op argmin{"argmin", OpKind::kernel, detail::infer_argmax};
}  // namespace op

namespace detail {
constexpr Tensor reduce_all_axes(const Op& op, Tensor x) { return reduce(op, x, all_axes(x.shape()), false); }
constexpr Tensor reduce_axes(const Op& op, Tensor x, std::initializer_list<int> axes, KeepDims keep) {
  return reduce(op, x, mask_of(x.shape(), axes), keep.value);
}
}  // namespace detail

/// Over no elements infinity (integers: the greatest number); NaN if an element is NaN. Elements equal to the minimum
/// share the gradient equally.
constexpr Tensor reduce_min(Tensor x) { return detail::reduce_all_axes(op::reduce_min, x); }
constexpr Tensor reduce_min(Tensor x, std::initializer_list<int> axes, KeepDims keep = {}) {
  return detail::reduce_axes(op::reduce_min, x, axes, keep);
}
/// 1 over no elements. The gradient is correct for elements that are 0, too. It is computed as the product of all
/// divided by the element, so it is 0, infinite or NaN where the product of all elements is out of the type's range.
constexpr Tensor reduce_prod(Tensor x) { return detail::reduce_all_axes(op::reduce_prod, x); }
constexpr Tensor reduce_prod(Tensor x, std::initializer_list<int> axes, KeepDims keep = {}) {
  return detail::reduce_axes(op::reduce_prod, x, axes, keep);
}
/// Whether any element (bool) is true; false over no elements.
constexpr Tensor reduce_any(Tensor x) { return detail::reduce_all_axes(op::reduce_any, x); }
constexpr Tensor reduce_any(Tensor x, std::initializer_list<int> axes, KeepDims keep = {}) {
  return detail::reduce_axes(op::reduce_any, x, axes, keep);
}
/// Whether all elements (bool) are true; true over no elements.
constexpr Tensor reduce_all(Tensor x) { return detail::reduce_all_axes(op::reduce_all, x); }
constexpr Tensor reduce_all(Tensor x, std::initializer_list<int> axes, KeepDims keep = {}) {
  return detail::reduce_axes(op::reduce_all, x, axes, keep);
}
/// The first index of the minimum along the axis: int32, one rank less.
constexpr Tensor argmin(Tensor x, int axis = -1) {
  return detail::reduce(op::argmin, x, detail::axis_bit(x.shape(), axis), false);
}

/// The mean squared distance from the mean (numpy's var, TensorFlow's reduce_variance), in two passes.
constexpr Tensor reduce_variance(Tensor x, std::initializer_list<int> axes, KeepDims keep = {}) {
  return reduce_mean(square(x - reduce_mean(x, axes, keep_dims)), axes, keep);
}
constexpr Tensor reduce_variance(Tensor x) { return reduce_mean(square(x - reduce_mean(x))); }
/// The square root of the variance (numpy's std). The gradient is not finite where all elements are equal.
constexpr Tensor reduce_std(Tensor x, std::initializer_list<int> axes, KeepDims keep = {}) {
  return sqrt(reduce_variance(x, axes, keep));
}
constexpr Tensor reduce_std(Tensor x) { return sqrt(reduce_variance(x)); }

namespace detail {
/// The gradient is the product of the other elements: without zeros, the product divided by the element; with one zero,
/// nonzero for that element only; with two or more, 0.
constexpr void gradient_of_product(GradientScope& s) {
  const Tensor x = s.input(0), zero = s.zero(), one = s.graph().constant(x.dtype(), 1);
  const auto axes = static_cast<unsigned>(s.attributes().ints[0]);
  const bool keep = s.attributes().ints[1] != 0;
  const Tensor is_zero = equal(x, zero), safe = select(is_zero, one, x);
  const Tensor zeros = with_reduced_axes(s, reduce(op::reduce_sum, cast(is_zero, x.dtype()), axes, keep));
  const Tensor product = reduced_upstream(s) * with_reduced_axes(s, reduce(op::reduce_prod, safe, axes, keep));
  const Tensor if_none = select(equal(zeros, zero), product / safe, zero);
  s.give(0, select(is_zero, select(equal(zeros, one), product, zero), if_none));
}
}  // namespace detail

}  // namespace crochet
