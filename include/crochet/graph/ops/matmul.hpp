// SPDX-License-Identifier: Apache-2.0
// The matrix product.
#pragma once
#include <crochet/graph/ops/reshape.hpp>

namespace crochet {

namespace detail {
constexpr TypedShape infer_matmul(const OpInputs& in) {
  const DType type = computed_as(in[0].dtype);
  if (type != computed_as(in[1].dtype)) graph_error::element_types_differ();
  if (!is_floating(type)) graph_error::element_type_not_supported();
  const std::size_t ta = in.attributes.ints[0] != 0 ? 1 : 0, tb = in.attributes.ints[1] != 0 ? 1 : 0;
  if (ta != 0 || in.shape(0).rank < 2) in.want_rank(0, 2);
  in.want_rank(1, 2);
  const Extent inner_a = in.shape(0).from_right(ta), inner_b = in.shape(1)[tb];
  if (!(inner_a == inner_b)) graph_error::inner_dimensions_differ(inner_a.factor, inner_b.factor);
  Shape out = in.shape(0);
  if (ta != 0) out[0] = out[1];
  out[out.rank - 1] = in.shape(1)[1 - tb];
  return {type, out};
}
constexpr void gradient_of_matmul(GradientScope& s);
/// Each row of the result depends on one row of a, unless a is transposed.
constexpr unsigned items_of_matmul(const Attributes& a) { return a.ints[0] != 0 ? 0 : 0b01; }
}  // namespace detail

namespace op {
/// [m, k] x [k, n] -> [m, n]; ints = {a is transposed, b is transposed}. If a is not transposed, m may be several
/// dimensions. Operands of bfloat16 are converted to float as they are read.
inline constexpr Op matmul = detail::accepting_bfloat16({.name = "matmul",
                                                         .kind = OpKind::kernel,
                                                         .infer = detail::infer_matmul,
                                                         .gradient = detail::gradient_of_matmul,
                                                         .epilogue_rows = all_but_last,
                                                         .itemwise = detail::items_of_matmul,
                                                         .panel_inputs = 0b10});
}  // namespace op

struct Transpose {
  bool a = false;
  bool b = false;
};

namespace detail {
constexpr Tensor batched_product(Tensor a, Tensor b, Transpose transpose);  // ops/batched_matmul.hpp
}

/// The matrix product [..., m, k] x [..., k, n] -> [..., m, n] (numpy.matmul).
/// - `transpose`: whether to transpose the last two dimensions of either operand first.
/// - The leading dimensions are a batch of matrices and broadcast by numpy's rule. Unlike in numpy, operands of rank 1
///   are an error.
/// - If b has rank 2 (a dense layer's weights), all rows of a are treated as one matrix, and either operand may be
///   bfloat16: the result is float, and so are the sums. With b of a higher rank cast<float>(x) is needed.
constexpr Tensor matmul(Tensor a, Tensor b, Transpose transpose = {}) {
  if ((a.shape().rank > 2 && transpose.a) || b.shape().rank > 2) return detail::batched_product(a, b, transpose);
  const Attributes transposes{.ints = {transpose.a ? 1 : 0, transpose.b ? 1 : 0}};
  return a.graph->apply(op::matmul, transposes, a, b);
}

namespace detail {
/// All rows of all matrices as one matrix.
constexpr Tensor as_matrix(Tensor x) {
  return x.shape().rank <= 2 ? x : reshape(x, {rest, x.shape()[x.shape().rank - 1]});
}
// With C = op(A) op(B) and G = dC: dA is G op(B)^T, dB is op(A)^T G, each transposed again if the operand was. The
// gradient of a is computed first: the last reader of a weight is then the product that its update can be fused with.
constexpr void gradient_of_matmul(GradientScope& s) {
  const bool ta = s.attributes().ints[0] != 0, tb = s.attributes().ints[1] != 0;
  const Tensor a = s.input(0), b = s.input(1), g = s.full_upstream();
  if (s.wants(0)) s.give(0, ta ? matmul(b, g, {.a = tb, .b = true}) : matmul(g, b, {.a = false, .b = !tb}));
  if (!s.wants(1)) return;
  const Tensor rows = detail::as_matrix(a), given = detail::as_matrix(g);
  s.give(1, tb ? matmul(given, rows, {.a = true, .b = ta}) : matmul(rows, given, {.a = !ta, .b = false}));
}
}  // namespace detail

}  // namespace crochet

// Circular dependency with the batched product. This include completes both.
#include <crochet/graph/ops/batched_matmul.hpp>  // IWYU pragma: keep
