// SPDX-License-Identifier: Apache-2.0
// Evenly spaced values, and tensors made from them: one-hot vectors, triangular masks.
#pragma once
#include <crochet/graph/ops/elementwise.hpp>
#include <crochet/graph/ops/views.hpp>

namespace crochet {

namespace op {
/// [n]; reals = {start, step}. iota() sets shape and type.
inline constexpr Op iota{.name = "iota", .kind = OpKind::kernel};
}  // namespace op

constexpr Tensor iota(GraphBuilder& g, DType type, const Extent& n, double start = 0, double step = 1) {
  if (type == DType::boolean) graph_error::element_type_not_supported();
  if (n.factor < 0) graph_error::dimension_is_negative();
  if (type == DType::bfloat16) return cast(iota(g, DType::float32, n, start, step), type);
  return g.shaped_as(op::iota, {}, type, {n}, {.reals = {start, step}});
}
/// start, start + step, ..., [n]: numpy.arange with a count instead of an end, so rounding cannot change the size.
/// Integers are exact where start, step and the result are below 2^53; for them start and step are truncated first, so
/// iota<int32>(g, n, 0, 0.5) is all 0.
template <Element T>
constexpr Tensor iota(GraphBuilder& g, const Extent& n, double start = 0, double step = 1) {
  return iota(g, dtype_of<T>, n, start, step);
}

/// One-hot vectors (tf.one_hot): indices [...] of an integer type -> [..., depth], with `on` where the position on the
/// last axis equals the index, else `off`. An index outside [0, depth) gives a row of `off`, as in TensorFlow.
template <Element T>
constexpr Tensor one_hot(Tensor indices, const Extent& depth, double on = 1, double off = 0) {
  if (is_floating(indices.dtype()) || indices.dtype() == DType::boolean) graph_error::element_type_not_supported();
  GraphBuilder& g = *indices.graph;
  const Tensor wide = indices.dtype() == DType::uint8 ? cast<std::int32_t>(indices) : indices;
  const Tensor here = equal(expand_dims(wide, -1), iota(g, wide.dtype(), depth));
  if (on == 1 && off == 0) return cast<T>(here);
  return select(here, g.constant(dtype_of<T>, on), g.constant(dtype_of<T>, off));
}

/// Mask, bool [rows, columns]: true on and below the given diagonal (numpy.tri). Diagonal 0 begins in the upper left
/// corner, 1 is the one above.
constexpr Tensor lower_triangle(GraphBuilder& g, const Extent& rows, const Extent& columns, int diagonal = 0) {
  const Tensor row = expand_dims(iota<std::int32_t>(g, rows, diagonal + 1.0), -1);
  return less(iota<std::int32_t>(g, columns), row);
}
/// The mask of causal attention, bool [n, n]: position i attends to positions 0 ... i.
constexpr Tensor causal_mask(GraphBuilder& g, const Extent& n) { return lower_triangle(g, n, n); }

namespace detail {
constexpr Tensor triangle_of(Tensor x, int diagonal) {
  if (x.shape().rank < 2) graph_error::wrong_rank(2, static_cast<std::int64_t>(x.shape().rank));
  return lower_triangle(*x.graph, x.shape().from_right(1), x.shape().from_right(0), diagonal);
}
}  // namespace detail
/// The matrices [..., m, n] with zeros above the given diagonal (numpy.tril).
constexpr Tensor tril(Tensor x, int diagonal = 0) {
  return select(detail::triangle_of(x, diagonal), x, x.graph->constant(x.dtype(), 0));
}
/// The matrices [..., m, n] with zeros below the given diagonal (numpy.triu).
constexpr Tensor triu(Tensor x, int diagonal = 0) {
  return select(detail::triangle_of(x, diagonal - 1), x.graph->constant(x.dtype(), 0), x);
}

}  // namespace crochet
