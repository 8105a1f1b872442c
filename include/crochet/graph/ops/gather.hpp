// SPDX-License-Identifier: Apache-2.0
// Selection of elements by index, and sums of elements with the same index.
#pragma once
#include <crochet/graph/ops/iota.hpp>

namespace crochet {

namespace detail {
constexpr void want_index(const OpInputs& in, std::size_t i) {
  const DType type = in[i].dtype;
  if (is_floating(type) || type == DType::boolean) graph_error::element_type_not_supported();
}
/// `shape` with the dimensions [axis, axis + count) replaced by `by`.
constexpr Shape replaced(const Shape& shape, std::size_t axis, std::size_t count, const Shape& by) {
  Shape to;
  for (std::size_t i = 0; i < axis; ++i) to.push_back(shape[i]);
  for (std::size_t i = 0; i < by.rank; ++i) to.push_back(by[i]);
  for (std::size_t i = axis + count; i < shape.rank; ++i) to.push_back(shape[i]);
  return to;
}
constexpr TypedShape infer_gather(const OpInputs& in) {
  want_index(in, 1);
  return {in[0].dtype, replaced(in.shape(0), static_cast<std::size_t>(in.attributes.ints[0]), 1, in.shape(1))};
}
constexpr void gradient_of_gather(GradientScope& s);
constexpr void gradient_of_segment_sum(GradientScope& s);
constexpr unsigned items_of_gather(const Attributes& a) {
  if (a.ints[0] != 0) return 1;
  return a.ints[1] != 0 ? 2 : 0;
}
constexpr unsigned items_of_segment_sum(const Attributes& a) { return a.ints[0] != 0 ? 1 : 0; }
}  // namespace detail

namespace op {
/// inputs = {x [..., n, ...], indices [...]}: the axis of size n is replaced by the dimensions of the indices. ints =
/// {axis, rank of the indices, result of an index outside [0, n): 0: invalid, as for op::slice; 1: zeros}.
inline constexpr Op gather = detail::accepting_bfloat16(
    {"gather", OpKind::kernel, detail::infer_gather, detail::gradient_of_gather, -1, detail::items_of_gather});
/// inputs = {values, indices}: the transpose of gather; ints as above. segment_sum() sets the shape.
inline constexpr Op segment_sum{
    "segment_sum", OpKind::kernel, nullptr, detail::gradient_of_segment_sum, -1, detail::items_of_segment_sum};
}  // namespace op

/// The slices of x along an axis at the given indices (numpy.take, tf.gather).
/// - Shapes: x [..., n, ...], indices [a, b] (any shape; int32, int64 or uint8) -> [..., a, b, ...].
/// - An index outside [0, n), including a negative one, gives NaN (signed integers: the lowest value, unsigned: the
///   greatest, bool: true) and no gradient.
constexpr Tensor gather(Tensor x, Tensor indices, int axis = 0) {
  const auto at = static_cast<std::int32_t>(detail::axis_of(x.shape().rank, axis));
  return x.graph->apply(op::gather, Attributes{.ints = {at, static_cast<std::int32_t>(indices.shape().rank)}}, x,
                        indices);
}

/// Sums of values with the same index (tf.math.unsorted_segment_sum, numpy.add.at).
/// - Shapes: values [..., a, b, ...], indices [a, b] -> [..., n, ...]. The indices' dimensions begin at the given axis
///   of the values.
/// - Summed in the order of the indices, for any number of threads.
/// - Values whose index is outside [0, n) are ignored.
constexpr Tensor segment_sum(Tensor values, Tensor indices, const Extent& n, int axis = 0) {
  const Shape ids = indices.shape(), from = values.shape();
  const std::size_t at = detail::axis_of(from.rank, axis);
  if (from.rank < at + ids.rank)
    graph_error::wrong_rank(static_cast<std::int64_t>(at + ids.rank), static_cast<std::int64_t>(from.rank));
  for (std::size_t i = 0; i < ids.rank; ++i) {
    if (!(from[at + i] == ids[i])) graph_error::shapes_do_not_broadcast();
  }
  if (is_floating(indices.dtype()) || indices.dtype() == DType::boolean || values.dtype() == DType::boolean) {
    graph_error::element_type_not_supported();
  }
  const Attributes how{.ints = {static_cast<std::int32_t>(at), static_cast<std::int32_t>(ids.rank)}};
  return values.graph->shaped(op::segment_sum, {values, indices}, detail::replaced(from, at, ids.rank, {n}), how);
}

/// One element per index: y[i, j, k] = x[i, indices[i, j, k], k] for axis 1 (numpy.take_along_axis). The indices have
/// x's shape except for that axis. An index outside gives NaN, as in gather().
constexpr Tensor take_along(Tensor x, Tensor indices, int axis) {
  const Shape from = x.shape(), to = indices.shape();
  const std::size_t at = detail::axis_of(from.rank, axis);
  Shape expected = from;
  if (to.rank == from.rank) expected[at] = to[at];
  if (!(to == expected)) graph_error::shapes_differ_beside_the_axis();
  if (is_floating(indices.dtype()) || indices.dtype() == DType::boolean) graph_error::element_type_not_supported();
  GraphBuilder& g = *x.graph;
  const auto number = [&](const Extent& n) { return g.count(n, DType::int64); };
  const Extent outer = from.product(0, at), n = from[at], inner = from.product(at + 1, from.rank);
  const Tensor ids = reshape(cast<std::int64_t>(indices), {outer, to[at], inner});
  // The offset in memory; -1 for an index outside, which would otherwise be the offset of another element.
  Tensor place = ids * number(inner) + reshape(iota<std::int64_t>(g, outer), {outer, 1, 1}) * number(n * inner);
  if (!inner.is_one()) place = place + iota<std::int64_t>(g, inner);
  const Tensor outside = g.constant(DType::int64, -1);
  place = select(less(ids, number(n)), select(less(ids, number(0)), outside, place), outside);
  return reshape(gather(reshape(x, {from.size()}), place), to);
}

namespace detail {
constexpr void gradient_of_gather(GradientScope& s) {
  s.give(0, s.graph().shaped(op::segment_sum, {s.full_upstream(), s.input(1)}, s.input(0).shape(), s.attributes()));
}
constexpr void gradient_of_segment_sum(GradientScope& s) {
  Attributes a = s.attributes();
  a.ints[2] = 1;  // an ignored value gets no gradient
  if (s.wants(0)) s.give(0, s.graph().apply(op::gather, a, s.full_upstream(), s.input(1)));
}
}  // namespace detail

}  // namespace crochet
