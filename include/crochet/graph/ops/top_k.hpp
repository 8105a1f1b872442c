// SPDX-License-Identifier: Apache-2.0
// The greatest elements of rows, and the selection of row elements by index.
#pragma once
#include <crochet/graph/ops/elementwise.hpp>

namespace crochet {

namespace detail {
constexpr TypedShape infer_top_k(const OpInputs& in) {
  want_number(in);
  Shape out = in.shape(0);
  if (out.rank == 0) graph_error::wrong_rank(1, 0);
  Extent& last = out[out.rank - 1];
  const std::int64_t k = in.attributes.ints[0];
  if (!last.is_static() || k < 0 || k > last.factor) graph_error::top_k_wants_more_than_the_last_dimension_has();
  graph_error::require_32_bits(last.factor);
  last = k;
  return {DType::int32, out};
}
constexpr TypedShape infer_take_along_rows(const OpInputs& in) {
  if (in[1].dtype != DType::int32) graph_error::element_type_not_supported();
  in.want_rank(1, in.shape(0).rank);
  for (std::size_t i = 0; i + 1 < in.shape(0).rank; ++i) {
    if (!(in.shape(0)[i] == in.shape(1)[i])) graph_error::shapes_do_not_broadcast();
  }
  return {in[0].dtype, in.shape(1)};
}
constexpr void gradient_of_take_along_rows(GradientScope& s);
constexpr void gradient_of_add_along_rows(GradientScope& s);
// The last attribute is the rank. A single row has no items.
constexpr unsigned items_of_top_k(const Attributes& a) { return a.ints[1] > 1 ? 1 : 0; }
constexpr unsigned items_of_both(const Attributes& a) { return a.ints[0] > 1 ? 3 : 0; }
constexpr std::int32_t rank_of(Tensor x) { return static_cast<std::int32_t>(x.shape().rank); }
}  // namespace detail

namespace op {
/// ints = {k, rank}: the indices of the k greatest elements of each row, [..., n] -> int32 [..., k].
inline constexpr Op top_k{.name = "top_k", .infer = detail::infer_top_k, .itemwise = detail::items_of_top_k};
/// inputs = {x [..., n], indices int32 [..., k]}, ints[0] = their rank: the selected elements of each row, [..., k].
inline constexpr Op take_along_rows{.name = "take_along_rows",
                                    .infer = detail::infer_take_along_rows,
                                    .gradient = detail::gradient_of_take_along_rows,
                                    .itemwise = detail::items_of_both};
/// inputs = {values [..., k], indices int32 [..., k]}, ints[0] = their rank: zeros [..., n], with the values added at
/// the indices. The caller sets the shape.
inline constexpr Op add_along_rows{
    .name = "add_along_rows", .gradient = detail::gradient_of_add_along_rows, .itemwise = detail::items_of_both};
}  // namespace op

/// The elements of each row at the given indices (int32): x [..., n], indices [..., k] -> [..., k]
/// (numpy.take_along_axis along the last axis). An index outside [0, n) gives 0 and no gradient.
constexpr Tensor take_along_rows(Tensor x, Tensor indices) {
  return x.graph->apply(op::take_along_rows, Attributes{.ints = {detail::rank_of(x)}}, x, indices);
}

/// The k greatest elements of each row, and their indices.
struct TopK {
  Tensor values;   ///< [..., k], in descending order; the gradient goes to the selected elements
  Tensor indices;  ///< int32 [..., k]; of equal elements the first index comes first
};
/// [..., n] -> [..., k]; n must be static and at least k (tf.math.top_k). A NaN counts as greater than all numbers.
constexpr TopK top_k(Tensor x, int k) {
  if (x.shape().rank == 0) graph_error::wrong_rank(1, 0);
  const Tensor indices = x.graph->apply(op::top_k, Attributes{.ints = {k, detail::rank_of(x)}}, x);
  return {take_along_rows(x, indices), indices};
}

namespace detail {
constexpr void gradient_of_take_along_rows(GradientScope& s) {
  const Tensor u = s.full_upstream();
  s.give(0, s.graph().shaped(op::add_along_rows, {u, s.input(1)}, s.input(0).shape(), s.attributes()));
}
constexpr void gradient_of_add_along_rows(GradientScope& s) {
  s.give(0, take_along_rows(s.full_upstream(), s.input(1)));
}
}  // namespace detail

}  // namespace crochet
