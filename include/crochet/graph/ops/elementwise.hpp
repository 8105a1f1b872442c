// SPDX-License-Identifier: Apache-2.0
// Elementwise operations: arithmetic, functions, comparisons, selection, conversion. Operands broadcast as numpy's do.
// What they compute per element is in kernels/elementwise.hpp; both compile without Eigen.
#pragma once
#include <crochet/graph/broadcast.hpp>
#include <crochet/graph/builder.hpp>
#include <crochet/graph/gradient_scope.hpp>

namespace crochet {

namespace detail {
constexpr void want_number(const OpInputs& in) {
  if (in[0].dtype == DType::boolean) graph_error::element_type_not_supported();
}
constexpr TypedShape infer_unary(const OpInputs& in) {
  want_number(in);
  return in[0];
}
constexpr TypedShape infer_function(const OpInputs& in) {
  in.want_floating(0);
  return in[0];
}
constexpr TypedShape infer_binary(const OpInputs& in) {
  in.want_same_type(0, 1);
  return {in[0].dtype, broadcast(in.shape(0), in.shape(1))};
}
constexpr TypedShape infer_arithmetic(const OpInputs& in) {
  want_number(in);
  return infer_binary(in);
}
constexpr TypedShape infer_comparison(const OpInputs& in) { return {DType::boolean, infer_binary(in).shape}; }
constexpr TypedShape infer_select(const OpInputs& in) {
  if (in[0].dtype != DType::boolean) graph_error::element_type_not_supported();
  in.want_same_type(1, 2);
  return {in[1].dtype, broadcast(in.shape(0), broadcast(in.shape(1), in.shape(2)))};
}
constexpr TypedShape infer_cast(const OpInputs& in) { return {static_cast<DType>(in.attributes.ints[0]), in.shape(0)}; }

constexpr void gradient_of_add(GradientScope& s);
constexpr void gradient_of_sub(GradientScope& s);
constexpr void gradient_of_mul(GradientScope& s);
constexpr void gradient_of_div(GradientScope& s);
constexpr void gradient_of_maximum(GradientScope& s);
constexpr void gradient_of_minimum(GradientScope& s);
constexpr void gradient_of_neg(GradientScope& s);
constexpr void gradient_of_exp(GradientScope& s);
constexpr void gradient_of_log(GradientScope& s);
constexpr void gradient_of_sqrt(GradientScope& s);
constexpr void gradient_of_square(GradientScope& s);
constexpr void gradient_of_tanh(GradientScope& s);
constexpr void gradient_of_sigmoid(GradientScope& s);
constexpr void gradient_of_relu(GradientScope& s);
constexpr void gradient_of_abs(GradientScope& s);
constexpr void gradient_of_select(GradientScope& s);
constexpr void gradient_of_cast(GradientScope& s);

constexpr Op binary(std::string_view name, void (*gradient)(GradientScope&)) {
  return {name, OpKind::elementwise, infer_arithmetic, gradient};
}
constexpr Op function(std::string_view name, void (*gradient)(GradientScope&)) {
  return {name, OpKind::elementwise, infer_function, gradient};
}
constexpr Op comparison(std::string_view name) { return {name, OpKind::elementwise, infer_comparison}; }
}  // namespace detail

namespace op {
inline constexpr Op add = detail::binary("add", detail::gradient_of_add);
inline constexpr Op sub = detail::binary("sub", detail::gradient_of_sub);
inline constexpr Op mul = detail::binary("mul", detail::gradient_of_mul);
inline constexpr Op div = detail::binary("div", detail::gradient_of_div);
inline constexpr Op maximum = detail::binary("maximum", detail::gradient_of_maximum);
inline constexpr Op minimum = detail::binary("minimum", detail::gradient_of_minimum);
inline constexpr Op equal = detail::comparison("equal");
inline constexpr Op not_equal = detail::comparison("not_equal");
inline constexpr Op less = detail::comparison("less");
inline constexpr Op greater = detail::comparison("greater");
inline constexpr Op neg{"neg", OpKind::elementwise, detail::infer_unary, detail::gradient_of_neg};
inline constexpr Op square{"square", OpKind::elementwise, detail::infer_unary, detail::gradient_of_square};
inline constexpr Op abs{"abs", OpKind::elementwise, detail::infer_unary, detail::gradient_of_abs};
inline constexpr Op relu{"relu", OpKind::elementwise, detail::infer_unary, detail::gradient_of_relu};
inline constexpr Op exp = detail::function("exp", detail::gradient_of_exp);
inline constexpr Op log = detail::function("log", detail::gradient_of_log);
inline constexpr Op sqrt = detail::function("sqrt", detail::gradient_of_sqrt);
inline constexpr Op tanh = detail::function("tanh", detail::gradient_of_tanh);
inline constexpr Op sigmoid = detail::function("sigmoid", detail::gradient_of_sigmoid);
/// inputs = {condition, where true, where false}.
inline constexpr Op select{"select", OpKind::elementwise, detail::infer_select, detail::gradient_of_select};
/// ints[0] = the element type to convert to.
inline constexpr Op cast{"cast", OpKind::elementwise, detail::infer_cast, detail::gradient_of_cast};
}  // namespace op

// clang-format off
constexpr Tensor operator+(Tensor a, Tensor b) { return a.graph->apply(op::add, a, b); }
constexpr Tensor operator-(Tensor a, Tensor b) { return a.graph->apply(op::sub, a, b); }
constexpr Tensor operator*(Tensor a, Tensor b) { return a.graph->apply(op::mul, a, b); }
/// As C++ divides: integers towards zero, and a division of integers by 0 ends the program.
constexpr Tensor operator/(Tensor a, Tensor b) { return a.graph->apply(op::div, a, b); }
constexpr Tensor operator-(Tensor a) { return a.graph->apply(op::neg, a); }
constexpr Tensor maximum(Tensor a, Tensor b) { return a.graph->apply(op::maximum, a, b); }
constexpr Tensor minimum(Tensor a, Tensor b) { return a.graph->apply(op::minimum, a, b); }
constexpr Tensor equal(Tensor a, Tensor b) { return a.graph->apply(op::equal, a, b); }
constexpr Tensor not_equal(Tensor a, Tensor b) { return a.graph->apply(op::not_equal, a, b); }
constexpr Tensor less(Tensor a, Tensor b) { return a.graph->apply(op::less, a, b); }
constexpr Tensor greater(Tensor a, Tensor b) { return a.graph->apply(op::greater, a, b); }
constexpr Tensor square(Tensor x) { return x.graph->apply(op::square, x); }
constexpr Tensor abs(Tensor x) { return x.graph->apply(op::abs, x); }
/// max(x, 0). The gradient at 0 is 0.
constexpr Tensor relu(Tensor x) { return x.graph->apply(op::relu, x); }
constexpr Tensor exp(Tensor x) { return x.graph->apply(op::exp, x); }
constexpr Tensor log(Tensor x) { return x.graph->apply(op::log, x); }
constexpr Tensor sqrt(Tensor x) { return x.graph->apply(op::sqrt, x); }
constexpr Tensor tanh(Tensor x) { return x.graph->apply(op::tanh, x); }
/// 1 / (1 + exp(-x)).
constexpr Tensor sigmoid(Tensor x) { return x.graph->apply(op::sigmoid, x); }
/// `a` where the condition (bool) holds, else `b`.
constexpr Tensor select(Tensor condition, Tensor a, Tensor b) { return a.graph->apply(op::select, condition, a, b); }
constexpr Tensor cast(Tensor x, DType to) {
  if (x.dtype() == to) return x;
  return x.graph->apply(op::cast, Attributes{.ints = {static_cast<std::int32_t>(to)}}, x);
}
/// Converts the elements: cast<float>(x). To bool: whether not 0; from floating to integer: towards zero.
template <Element T> constexpr Tensor cast(Tensor x) { return cast(x, dtype_of<T>); }

// A number beside a tensor takes the tensor's element type.
constexpr Tensor operator+(Tensor a, double b) { return a + a.graph->constant(a.dtype(), b); }
constexpr Tensor operator-(Tensor a, double b) { return a - a.graph->constant(a.dtype(), b); }
constexpr Tensor operator*(Tensor a, double b) { return a * a.graph->constant(a.dtype(), b); }
constexpr Tensor operator/(Tensor a, double b) { return a / a.graph->constant(a.dtype(), b); }
constexpr Tensor operator+(double a, Tensor b) { return b.graph->constant(b.dtype(), a) + b; }
constexpr Tensor operator-(double a, Tensor b) { return b.graph->constant(b.dtype(), a) - b; }
constexpr Tensor operator*(double a, Tensor b) { return b.graph->constant(b.dtype(), a) * b; }
constexpr Tensor operator/(double a, Tensor b) { return b.graph->constant(b.dtype(), a) / b; }
constexpr Tensor greater(Tensor a, double b) { return greater(a, a.graph->constant(a.dtype(), b)); }
constexpr Tensor less(Tensor a, double b) { return less(a, a.graph->constant(a.dtype(), b)); }

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
constexpr void share_by(GradientScope& s, Tensor first_wins) {
  const Tensor zero = s.zero();
  if (s.wants(0)) s.give(0, select(first_wins, s.upstream(), zero));
  if (s.wants(1)) s.give(1, select(first_wins, zero, s.upstream()));
}
constexpr void gradient_of_maximum(GradientScope& s) { share_by(s, greater(s.input(0), s.input(1))); }
constexpr void gradient_of_minimum(GradientScope& s) { share_by(s, less(s.input(0), s.input(1))); }
constexpr void gradient_of_neg(GradientScope& s) { s.give(0, -s.upstream()); }
constexpr void gradient_of_exp(GradientScope& s) { s.give(0, s.upstream() * s.output()); }
constexpr void gradient_of_log(GradientScope& s) { s.give(0, s.upstream() / s.input(0)); }
constexpr void gradient_of_sqrt(GradientScope& s) { s.give(0, s.upstream() * 0.5 / s.output()); }
constexpr void gradient_of_square(GradientScope& s) { s.give(0, s.upstream() * (s.input(0) * 2)); }
constexpr void gradient_of_tanh(GradientScope& s) { s.give(0, s.upstream() * (1 - square(s.output()))); }
constexpr void gradient_of_sigmoid(GradientScope& s) { s.give(0, s.upstream() * (s.output() * (1 - s.output()))); }
constexpr void gradient_of_relu(GradientScope& s) { s.give(0, select(greater(s.output(), 0), s.upstream(), s.zero())); }
constexpr void gradient_of_abs(GradientScope& s) {
  s.give(0, select(less(s.input(0), 0), -s.upstream(), s.upstream()));
}
constexpr void gradient_of_select(GradientScope& s) {
  if (s.wants(1)) s.give(1, select(s.input(0), s.upstream(), s.zero()));
  if (s.wants(2)) s.give(2, select(s.input(0), s.zero(), s.upstream()));
}
constexpr void gradient_of_cast(GradientScope& s) {
  if (is_floating(s.input(0).dtype()) && is_floating(s.output().dtype())) {
    s.give(0, cast(s.upstream(), s.input(0).dtype()));
  }
}
}  // namespace detail

}  // namespace crochet
