// SPDX-License-Identifier: Apache-2.0
// Comparisons, logic, selection and conversion.
#pragma once
#include <crochet/graph/ops/elementwise_rules.hpp>

namespace crochet {

namespace detail {
constexpr void gradient_of_select(GradientScope& s);
constexpr void gradient_of_cast(GradientScope& s);
}  // namespace detail

namespace op {
inline constexpr Op equal = detail::comparison("equal");
inline constexpr Op not_equal = detail::comparison("not_equal");
inline constexpr Op less = detail::comparison("less");
inline constexpr Op less_equal = detail::comparison("less_equal");
inline constexpr Op greater = detail::comparison("greater");
inline constexpr Op greater_equal = detail::comparison("greater_equal");
inline constexpr Op logical_and = detail::logical("logical_and");
inline constexpr Op logical_or = detail::logical("logical_or");
inline constexpr Op logical_xor = detail::logical("logical_xor");
inline constexpr Op logical_not{"logical_not", OpKind::elementwise, detail::infer_not};
/// inputs = {condition, where true, where false}.
inline constexpr Op select =
    detail::accepting_bfloat16({"select", OpKind::elementwise, detail::infer_select, detail::gradient_of_select});
/// ints[0] = the target element type.
inline constexpr Op cast =
    detail::accepting_bfloat16({"cast", OpKind::elementwise, detail::infer_cast, detail::gradient_of_cast});
}  // namespace op

// clang-format off
// Comparisons return bools. A comparison with a NaN is false, except not_equal, which is true.
constexpr Tensor equal(Tensor a, Tensor b) { return a.graph->apply(op::equal, a, b); }
constexpr Tensor not_equal(Tensor a, Tensor b) { return a.graph->apply(op::not_equal, a, b); }
constexpr Tensor less(Tensor a, Tensor b) { return a.graph->apply(op::less, a, b); }
constexpr Tensor less_equal(Tensor a, Tensor b) { return a.graph->apply(op::less_equal, a, b); }
constexpr Tensor greater(Tensor a, Tensor b) { return a.graph->apply(op::greater, a, b); }
constexpr Tensor greater_equal(Tensor a, Tensor b) { return a.graph->apply(op::greater_equal, a, b); }
constexpr Tensor equal(Tensor a, double b) { return equal(a, a.graph->constant(a.dtype(), b)); }
constexpr Tensor not_equal(Tensor a, double b) { return not_equal(a, a.graph->constant(a.dtype(), b)); }
constexpr Tensor less(Tensor a, double b) { return less(a, a.graph->constant(a.dtype(), b)); }
constexpr Tensor less_equal(Tensor a, double b) { return less_equal(a, a.graph->constant(a.dtype(), b)); }
constexpr Tensor greater(Tensor a, double b) { return greater(a, a.graph->constant(a.dtype(), b)); }
constexpr Tensor greater_equal(Tensor a, double b) { return greater_equal(a, a.graph->constant(a.dtype(), b)); }

// Logic on bools.
constexpr Tensor logical_and(Tensor a, Tensor b) { return a.graph->apply(op::logical_and, a, b); }
constexpr Tensor logical_or(Tensor a, Tensor b) { return a.graph->apply(op::logical_or, a, b); }
constexpr Tensor logical_xor(Tensor a, Tensor b) { return a.graph->apply(op::logical_xor, a, b); }
constexpr Tensor logical_not(Tensor a) { return a.graph->apply(op::logical_not, a); }

/// `a` where the condition (bool) holds, else `b`. No gradient flows to the condition.
constexpr Tensor select(Tensor condition, Tensor a, Tensor b) { return a.graph->apply(op::select, condition, a, b); }
/// Converts the elements. To bool: x != 0. From floating to integer types: truncates; the result for NaN and for
/// numbers out of range is unspecified and depends on the device. To bfloat16: to the nearest, ties to even. From and to
/// bfloat16 through float.
constexpr Tensor cast(Tensor x, DType to) {
  if (x.dtype() == to) return x;
  const bool rounds = to == DType::bfloat16, widens = x.dtype() == DType::bfloat16;
  if ((rounds && x.dtype() != DType::float32) || (widens && to != DType::float32)) {
    return cast(cast(x, DType::float32), to);
  }
  return x.graph->apply(op::cast, Attributes{.ints = {static_cast<std::int32_t>(to)}}, x);
}
/// As above: cast<float>(x).
template <Element T> constexpr Tensor cast(Tensor x) { return cast(x, dtype_of<T>); }
// clang-format on

namespace detail {
constexpr void gradient_of_select(GradientScope& s) {
  if (s.wants(1)) s.give(1, select(s.input(0), s.upstream(), s.zero()));
  if (s.wants(2)) s.give(2, select(s.input(0), s.zero(), s.upstream()));
}
constexpr void gradient_of_cast(GradientScope& s) {
  if (has_gradient(s.input(0).dtype()) && has_gradient(s.output().dtype())) {
    s.give(0, cast(s.upstream(), computed_as(s.input(0).dtype())));
  }
}
}  // namespace detail

}  // namespace crochet
