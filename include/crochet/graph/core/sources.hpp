// SPDX-License-Identifier: Apache-2.0
// Sources of a graph and operations on variables: placeholder, variable, constant, count, assign, group.
#pragma once
#include <crochet/graph/core/op.hpp>

namespace crochet {

namespace detail {
constexpr TypedShape infer_assign(const OpInputs& in) {
  in.want_same_type(0, 1);
  if (!(in.shape(0) == in.shape(1))) graph_error::assigned_value_has_another_shape();
  return in[0];
}
constexpr TypedShape infer_group(const OpInputs&) { return {DType::boolean, {}}; }
}  // namespace detail

namespace op {
/// A fed value.
inline constexpr Op placeholder{.name = "placeholder", .kind = OpKind::source};
/// A variable. ints = {initializer kind, trainable}, reals = the initializer's a and b.
inline constexpr Op variable{.name = "variable", .kind = OpKind::source};
/// A scalar. reals[0] is its value.
inline constexpr Op constant{.name = "constant", .kind = OpKind::source};
/// A number of elements that depends on dynamic dimensions. ints = their powers, reals[0] = the static factor.
inline constexpr Op count{.name = "count", .kind = OpKind::kernel};
/// inputs = {variable, value}.
inline constexpr Op assign =
    detail::accepting_bfloat16({.name = "assign", .kind = OpKind::assign, .infer = detail::infer_assign});
/// Runs all its inputs; it has no value.
inline constexpr Op group{.name = "group", .kind = OpKind::group, .infer = detail::infer_group};
}  // namespace op

}  // namespace crochet
