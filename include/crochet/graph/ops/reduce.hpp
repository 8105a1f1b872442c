// SPDX-License-Identifier: Apache-2.0
// Reductions over axes and argmax.
#pragma once
#include <crochet/graph/ops/elementwise.hpp>
#include <crochet/graph/ops/reshape.hpp>
#include <crochet/graph/ops/transpose.hpp>

namespace crochet {

namespace detail {
// ints[0] = mask of the reduced axes, which must be contiguous; ints[1] = whether they are kept as dimensions of 1.
constexpr TypedShape infer_reduce(const OpInputs& in) {
  Shape out;
  for (std::size_t i = 0; i < in.shape(0).rank; ++i) {
    const bool reduced = ((static_cast<unsigned>(in.attributes.ints[0]) >> i) & 1U) != 0;
    if (!reduced) out.push_back(in.shape(0)[i]);
    if (reduced && in.attributes.ints[1] != 0) out.push_back(1);
  }
  return {in[0].dtype, out};
}
constexpr TypedShape infer_arithmetic_reduce(const OpInputs& in) {
  if (in[0].dtype == DType::boolean) graph_error::element_type_not_supported();
  return infer_reduce(in);
}
constexpr TypedShape infer_mean(const OpInputs& in) {
  in.want_floating(0);
  return infer_reduce(in);
}
constexpr TypedShape infer_argmax(const OpInputs& in) {
  const Shape x = in.shape(0);
  for (std::size_t i = 0; i < x.rank; ++i) {
    const bool reduced = ((static_cast<unsigned>(in.attributes.ints[0]) >> i) & 1U) != 0;
    if (reduced && x[i].is_static()) graph_error::require_32_bits(x[i].factor);
  }
  return {DType::int32, infer_arithmetic_reduce(in).shape};
}
constexpr void gradient_of_sum(GradientScope& s);
constexpr void gradient_of_mean(GradientScope& s);
constexpr void gradient_of_max(GradientScope& s);
}  // namespace detail

namespace op {
/// Reductions: ints[0] = mask of the reduced axes (contiguous), ints[1] = whether they are kept as dimensions of 1.
inline constexpr Op reduce_sum{.name = "reduce_sum",
                               .infer = detail::infer_arithmetic_reduce,
                               .gradient = detail::gradient_of_sum,
                               .epilogue_rows = 0,
                               .reduces = true};
inline constexpr Op reduce_mean{.name = "reduce_mean",
                                .infer = detail::infer_mean,
                                .gradient = detail::gradient_of_mean,
                                .epilogue_rows = 0,
                                .reduces = true};
inline constexpr Op reduce_max{.name = "reduce_max",
                               .infer = detail::infer_arithmetic_reduce,
                               .gradient = detail::gradient_of_max,
                               .reduces = true};
/// The first index of the maximum along one axis, as int32.
inline constexpr Op argmax{"argmax", OpKind::kernel, detail::infer_argmax};
}  // namespace op

namespace detail {
constexpr unsigned axis_bit(const Shape& shape, int axis) {
  const int rank = static_cast<int>(shape.rank);
  if (axis < -rank || axis >= rank) graph_error::no_such_axis(axis);
  return 1U << static_cast<unsigned>(axis < 0 ? axis + rank : axis);
}
constexpr unsigned all_axes(const Shape& shape) { return (1U << shape.rank) - 1U; }

/// The shape of a reduction with its reduced axes as dimensions of 1.
constexpr Shape kept_shape(Shape shape, unsigned axes) {
  for (std::size_t i = 0; i < shape.rank; ++i) {
    if (((axes >> i) & 1U) != 0) shape[i] = 1;
  }
  return shape;
}
/// Whether the axes are not adjacent.
constexpr bool has_gaps(unsigned axes) {
  while (axes != 0 && (axes & 1U) == 0) axes >>= 1U;
  return (axes & (axes + 1)) != 0;
}
constexpr Tensor reduce(const Op& op, Tensor x, unsigned axes, bool keep);
/// With the reduced axes moved together, to the end: the gradient of an extremum is shared among all its ties.
constexpr Tensor reduce_at_once(const Op& op, Tensor x, unsigned axes, bool keep) {
  const std::size_t rank = x.shape().rank;
  Attributes order;
  std::size_t to = 0, kept = 0;
  for (const unsigned reduced : {0U, 1U}) {
    for (std::size_t i = 0; i < rank; ++i) {
      if (((axes >> i) & 1U) == reduced) order.ints[to++] = static_cast<std::int32_t>(i);
    }
    if (reduced == 0) kept = to;
  }
  const Tensor y = reduce(op, transpose(x, order), ((1U << rank) - 1U) & ~((1U << kept) - 1U), false);
  return keep ? reshape(y, kept_shape(x.shape(), axes)) : y;
}
/// Reduces each run of contiguous axes, the rightmost first: kernels reduce [outer, reduced, inner].
constexpr Tensor reduce(const Op& op, Tensor x, unsigned axes, bool keep) {
  const std::size_t rank = x.shape().rank;
  if (op.gradient == gradient_of_max && has_gaps(axes)) return reduce_at_once(op, x, axes, keep);
  for (std::size_t end = rank; end > 0; --end) {
    if (((axes >> (end - 1)) & 1U) == 0) continue;
    std::size_t begin = end - 1;
    while (begin > 0 && ((axes >> (begin - 1)) & 1U) != 0) --begin;
    const unsigned run = ((1U << end) - 1U) & ~((1U << begin) - 1U);
    x = x.graph->apply(op, Attributes{.ints = {static_cast<std::int32_t>(run), keep ? 1 : 0}}, x);
    end = begin + 1;
  }
  return x;
}
}  // namespace detail

/// The sum over all elements, or over the given axes (negative ones count from the right).
constexpr Tensor reduce_sum(Tensor x) { return detail::reduce(op::reduce_sum, x, detail::all_axes(x.shape()), false); }
constexpr Tensor reduce_mean(Tensor x) {
  return detail::reduce(op::reduce_mean, x, detail::all_axes(x.shape()), false);
}
constexpr Tensor reduce_max(Tensor x) { return detail::reduce(op::reduce_max, x, detail::all_axes(x.shape()), false); }

struct KeepDims {
  bool value = false;
};
inline constexpr KeepDims keep_dims{true};

namespace detail {
constexpr unsigned mask_of(const Shape& shape, std::initializer_list<int> axes) {
  unsigned mask = 0;
  for (int axis : axes) mask |= axis_bit(shape, axis);
  return mask;
}
}  // namespace detail

constexpr Tensor reduce_sum(Tensor x, std::initializer_list<int> axes, KeepDims keep = {}) {
  return detail::reduce(op::reduce_sum, x, detail::mask_of(x.shape(), axes), keep.value);
}
constexpr Tensor reduce_mean(Tensor x, std::initializer_list<int> axes, KeepDims keep = {}) {
  return detail::reduce(op::reduce_mean, x, detail::mask_of(x.shape(), axes), keep.value);
}
constexpr Tensor reduce_max(Tensor x, std::initializer_list<int> axes, KeepDims keep = {}) {
  return detail::reduce(op::reduce_max, x, detail::mask_of(x.shape(), axes), keep.value);
}
/// The first index of the maximum along the axis: int32, one rank less.
constexpr Tensor argmax(Tensor x, int axis = -1) {
  return detail::reduce(op::argmax, x, detail::axis_bit(x.shape(), axis), false);
}
namespace detail {
/// A reduction's result or gradient with its reduced axes restored as dimensions of 1.
constexpr Tensor with_reduced_axes(GradientScope& s, Tensor t) {
  const Shape kept = kept_shape(s.input(0).shape(), static_cast<unsigned>(s.attributes().ints[0]));
  return t.shape().rank == 0 || t.shape() == kept ? t : reshape(t, kept);
}
constexpr Tensor reduced_upstream(GradientScope& s) {
  const Tensor u = s.upstream().shape().rank == 0 ? s.upstream() : s.full_upstream();
  return with_reduced_axes(s, u);
}
constexpr void gradient_of_sum(GradientScope& s) { s.give(0, reduced_upstream(s)); }
constexpr void gradient_of_mean(GradientScope& s) {
  Extent n;
  for (std::size_t i = 0; i < s.input(0).shape().rank; ++i) {
    if (((static_cast<unsigned>(s.attributes().ints[0]) >> i) & 1U) != 0) n = n * s.input(0).shape()[i];
  }
  s.give(0, reduced_upstream(s) / s.graph().count(n, s.upstream().dtype()));
}
/// All elements equal to the maximum share the gradient equally.
constexpr void gradient_of_max(GradientScope& s) {
  const Tensor x = s.input(0), top = with_reduced_axes(s, s.output());
  const Tensor ties = cast(equal(x, top), x.dtype());
  const Tensor shares =
      reduce(op::reduce_sum, ties, static_cast<unsigned>(s.attributes().ints[0]), s.attributes().ints[1] != 0);
  s.give(0, ties * (reduced_upstream(s) / with_reduced_axes(s, shares)));
}
}  // namespace detail

}  // namespace crochet
