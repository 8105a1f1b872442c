// SPDX-License-Identifier: Apache-2.0
// Arithmetic: sums, products, quotients, minimum and maximum, rounding.
#pragma once
#include <limits>

#include <crochet/graph/ops/comparisons.hpp>

namespace crochet {

namespace detail {
constexpr void gradient_of_add(GradientScope& s);
constexpr void gradient_of_sub(GradientScope& s);
constexpr void gradient_of_mul(GradientScope& s);
constexpr void gradient_of_div(GradientScope& s);
constexpr void gradient_of_mod(GradientScope& s);
constexpr void gradient_of_maximum(GradientScope& s);
constexpr void gradient_of_minimum(GradientScope& s);
constexpr void gradient_of_neg(GradientScope& s);
constexpr void gradient_of_square(GradientScope& s);
constexpr void gradient_of_abs(GradientScope& s);
}  // namespace detail

namespace op {
inline constexpr Op add = detail::binary("add", detail::gradient_of_add);
inline constexpr Op sub = detail::binary("sub", detail::gradient_of_sub);
inline constexpr Op mul = detail::binary("mul", detail::gradient_of_mul);
inline constexpr Op div = detail::binary("div", detail::gradient_of_div);
inline constexpr Op floor_divide = detail::binary("floor_divide", detail::gradient_is_zero);
inline constexpr Op mod = detail::binary("mod", detail::gradient_of_mod);
inline constexpr Op maximum = detail::binary("maximum", detail::gradient_of_maximum);
inline constexpr Op minimum = detail::binary("minimum", detail::gradient_of_minimum);
inline constexpr Op neg = detail::unary("neg", detail::gradient_of_neg);
inline constexpr Op square = detail::unary("square", detail::gradient_of_square);
inline constexpr Op abs = detail::unary("abs", detail::gradient_of_abs);
inline constexpr Op sign = detail::unary("sign", detail::gradient_is_zero);
inline constexpr Op floor = detail::unary("floor", detail::gradient_is_zero);
inline constexpr Op ceil = detail::unary("ceil", detail::gradient_is_zero);
inline constexpr Op round = detail::unary("round", detail::gradient_is_zero);
inline constexpr Op trunc = detail::unary("trunc", detail::gradient_is_zero);
}  // namespace op

namespace detail {
/// Returns the divisor; an integer constant 0 is an error of the model.
constexpr Tensor divisor(Tensor b) {
  const Node& n = b.graph->node(b);
  const double value = n.is(op::constant) ? n.attributes.reals[0] : 1;
  if (!is_floating(b.dtype()) && value > -1 && value < 1) graph_error::division_of_integers_by_zero();
  return b;
}
}  // namespace detail

// clang-format off
constexpr Tensor operator+(Tensor a, Tensor b) { return a.graph->apply(op::add, a, b); }
constexpr Tensor operator-(Tensor a, Tensor b) { return a.graph->apply(op::sub, a, b); }
constexpr Tensor operator*(Tensor a, Tensor b) { return a.graph->apply(op::mul, a, b); }
/// Integer division truncates. As in XLA, a / 0 is -1 (all bits set) and min / -1 is min. An integer constant 0 as the
/// divisor is an error of the model.
constexpr Tensor operator/(Tensor a, Tensor b) { return a.graph->apply(op::div, a, detail::divisor(b)); }
constexpr Tensor operator-(Tensor a) { return a.graph->apply(op::neg, a); }

// A number is converted to the tensor's element type.
constexpr Tensor operator+(Tensor a, double b) { return a + a.graph->constant(a.dtype(), b); }
constexpr Tensor operator-(Tensor a, double b) { return a - a.graph->constant(a.dtype(), b); }
constexpr Tensor operator*(Tensor a, double b) { return a * a.graph->constant(a.dtype(), b); }
constexpr Tensor operator/(Tensor a, double b) { return a / a.graph->constant(a.dtype(), b); }
constexpr Tensor operator+(double a, Tensor b) { return b.graph->constant(b.dtype(), a) + b; }
constexpr Tensor operator-(double a, Tensor b) { return b.graph->constant(b.dtype(), a) - b; }
constexpr Tensor operator*(double a, Tensor b) { return b.graph->constant(b.dtype(), a) * b; }
constexpr Tensor operator/(double a, Tensor b) { return b.graph->constant(b.dtype(), a) / b; }

/// The greatest integer not above a / b (numpy's floor_divide, Python's //). Integers: a / 0 is -1, min / -1 is min.
/// The gradient is 0.
constexpr Tensor floor_divide(Tensor a, Tensor b) { return a.graph->apply(op::floor_divide, a, detail::divisor(b)); }
constexpr Tensor floor_divide(Tensor a, double b) { return floor_divide(a, a.graph->constant(a.dtype(), b)); }
/// a - b floor(a / b): the remainder with the sign of b (numpy's mod, Python's %). Integers: the result for b = 0 is a.
constexpr Tensor mod(Tensor a, Tensor b) { return a.graph->apply(op::mod, a, detail::divisor(b)); }
constexpr Tensor mod(Tensor a, double b) { return mod(a, a.graph->constant(a.dtype(), b)); }

// The result is NaN if an operand is NaN. Where the operands are equal the gradient goes to the first, as in
// TensorFlow.
constexpr Tensor maximum(Tensor a, Tensor b) { return a.graph->apply(op::maximum, a, b); }
constexpr Tensor minimum(Tensor a, Tensor b) { return a.graph->apply(op::minimum, a, b); }
constexpr Tensor maximum(Tensor a, double b) { return maximum(a, a.graph->constant(a.dtype(), b)); }
constexpr Tensor minimum(Tensor a, double b) { return minimum(a, a.graph->constant(a.dtype(), b)); }
/// x limited to the bounds: min(max(x, low), high) (numpy's clip, TensorFlow's clip_by_value). The gradient passes
/// where low <= x <= high.
constexpr Tensor clip(Tensor x, Tensor low, Tensor high) { return minimum(maximum(x, low), high); }
constexpr Tensor clip(Tensor x, double low, double high) { return minimum(maximum(x, low), high); }

constexpr Tensor square(Tensor x) { return x.graph->apply(op::square, x); }
constexpr Tensor squared_difference(Tensor a, Tensor b) { return square(a - b); }
constexpr Tensor reciprocal(Tensor x) { return 1 / x; }
/// The gradient at 0 is 0.
constexpr Tensor abs(Tensor x) { return x.graph->apply(op::abs, x); }
/// -1, 0 or 1; NaN for NaN. The gradient is 0.
constexpr Tensor sign(Tensor x) { return x.graph->apply(op::sign, x); }

// Rounding to an integer; integers are unchanged. The gradient is 0.
constexpr Tensor floor(Tensor x) { return x.graph->apply(op::floor, x); }
constexpr Tensor ceil(Tensor x) { return x.graph->apply(op::ceil, x); }
/// To the nearest integer, halfway cases to the even one.
constexpr Tensor round(Tensor x) { return x.graph->apply(op::round, x); }
/// Towards zero.
constexpr Tensor trunc(Tensor x) { return x.graph->apply(op::trunc, x); }

// Tests of floating elements; the results are bools.
constexpr Tensor isnan(Tensor x) { return not_equal(x, x); }
constexpr Tensor isinf(Tensor x) { return equal(abs(x), std::numeric_limits<double>::infinity()); }
constexpr Tensor isfinite(Tensor x) { return less(abs(x), std::numeric_limits<double>::infinity()); }

namespace detail {
constexpr void gradient_of_add(GradientScope& s) { s.give(0, s.upstream()); s.give(1, s.upstream()); }
constexpr void gradient_of_sub(GradientScope& s) { s.give(0, s.upstream()); if (s.wants(1)) s.give(1, -s.upstream()); }
// clang-format on
constexpr void gradient_of_mul(GradientScope& s) {
  if (s.wants(0)) s.give(0, s.upstream() * s.input(1));
  if (s.wants(1)) s.give(1, s.upstream() * s.input(0));
}
constexpr void gradient_of_div(GradientScope& s) {
  const Tensor u = s.upstream() / s.input(1);
  s.give(0, u);
  if (s.wants(1)) s.give(1, -(u * s.output()));
}
constexpr void gradient_of_mod(GradientScope& s) {
  s.give(0, s.upstream());
  if (s.wants(1)) s.give(1, -(s.upstream() * floor_divide(s.input(0), s.input(1))));
}
constexpr void share_by(GradientScope& s, Tensor first_wins) {
  const Tensor zero = s.zero();
  if (s.wants(0)) s.give(0, select(first_wins, s.upstream(), zero));
  if (s.wants(1)) s.give(1, select(first_wins, zero, s.upstream()));
}
constexpr void gradient_of_maximum(GradientScope& s) { share_by(s, greater_equal(s.input(0), s.input(1))); }
constexpr void gradient_of_minimum(GradientScope& s) { share_by(s, less_equal(s.input(0), s.input(1))); }
constexpr void gradient_of_neg(GradientScope& s) { s.give(0, -s.upstream()); }
constexpr void gradient_of_square(GradientScope& s) { s.give(0, s.upstream() * (s.input(0) * 2)); }
constexpr void gradient_of_abs(GradientScope& s) { s.give(0, s.upstream() * sign(s.input(0))); }
}  // namespace detail

}  // namespace crochet
