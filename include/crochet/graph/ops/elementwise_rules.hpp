// SPDX-License-Identifier: Apache-2.0
// Shape rules of elementwise operations. Operands broadcast as in numpy and must have the same element type.
#pragma once
#include <crochet/graph/core/broadcast.hpp>
#include <crochet/graph/core/builder.hpp>
#include <crochet/graph/ops/gradient_scope.hpp>

namespace crochet::detail {

constexpr void want_number(const OpInputs& in) {
  if (in[0].dtype == DType::boolean) graph_error::element_type_not_supported();
}
constexpr void want_bool(const OpInputs& in, std::size_t i) {
  if (in[i].dtype != DType::boolean) graph_error::element_type_not_supported();
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
constexpr TypedShape infer_binary_function(const OpInputs& in) {
  in.want_floating(0);
  return infer_binary(in);
}
constexpr TypedShape infer_comparison(const OpInputs& in) { return {DType::boolean, infer_binary(in).shape}; }
constexpr TypedShape infer_not(const OpInputs& in) {
  want_bool(in, 0);
  return in[0];
}
constexpr TypedShape infer_logical(const OpInputs& in) {
  if (in[0].dtype != DType::boolean) graph_error::element_type_not_supported();
  return infer_binary(in);
}
constexpr TypedShape infer_select(const OpInputs& in) {
  want_bool(in, 0);
  in.want_same_type(1, 2);
  return {in[1].dtype, broadcast(in.shape(0), broadcast(in.shape(1), in.shape(2)))};
}
constexpr TypedShape infer_cast(const OpInputs& in) { return {static_cast<DType>(in.attributes.ints[0]), in.shape(0)}; }

using GradientRule = void (*)(GradientScope&);
constexpr Op unary(std::string_view name, GradientRule gradient) {
  return {name, OpKind::elementwise, infer_unary, gradient};
}
constexpr Op binary(std::string_view name, GradientRule gradient) {
  return {name, OpKind::elementwise, infer_arithmetic, gradient};
}
constexpr Op function(std::string_view name, GradientRule gradient) {
  return {name, OpKind::elementwise, infer_function, gradient};
}
constexpr Op comparison(std::string_view name) { return {name, OpKind::elementwise, infer_comparison}; }
constexpr Op logical(std::string_view name) { return {name, OpKind::elementwise, infer_logical}; }

/// Step functions (floor, sign): their derivative is zero almost everywhere, so no gradient flows.
constexpr void gradient_is_zero(GradientScope&) {}

}  // namespace crochet::detail
