// SPDX-License-Identifier: Apache-2.0
// Batched matrix products. Used by matmul() for operands of more than two dimensions.
#pragma once
#include <crochet/graph/core/broadcast.hpp>
#include <crochet/graph/ops/matmul.hpp>
#include <crochet/graph/ops/reshape.hpp>

namespace crochet {

namespace detail {
/// The batch dimensions: all but the last two.
constexpr Shape batch_of(const Shape& s) {
  Shape batch;
  for (std::size_t i = 0; i + 2 < s.rank; ++i) batch.push_back(s[i]);
  return batch;
}

constexpr TypedShape infer_batched_matmul(const OpInputs& in) {
  in.want_same_type(0, 1);
  in.want_floating(0);
  for (std::size_t i = 0; i < 2; ++i) {
    if (in.shape(i).rank < 2) in.want_rank(i, 2);
  }
  const std::size_t ta = in.attributes.ints[0] != 0 ? 1 : 0, tb = in.attributes.ints[1] != 0 ? 1 : 0;
  const Extent inner_a = in.shape(0).from_right(ta), inner_b = in.shape(1).from_right(1 - tb);
  if (!(inner_a == inner_b)) graph_error::inner_dimensions_differ(inner_a.factor, inner_b.factor);
  Shape out = broadcast(batch_of(in.shape(0)), batch_of(in.shape(1)));
  out.push_back(in.shape(0).from_right(1 - ta));
  out.push_back(in.shape(1).from_right(tb));
  return {in[0].dtype, out};
}
constexpr void gradient_of_batched_matmul(GradientScope& s);
constexpr unsigned items_of_batched_matmul(const Attributes& a) { return static_cast<unsigned>(a.ints[2]); }
}  // namespace detail

namespace op {
/// [..., m, k] x [..., k, n] -> [..., m, n]; the result has Rank dimensions. ints = {a is transposed, b is transposed,
/// mask of the operands with a separate matrix for each item of the result}.
template <std::size_t Rank>
inline constexpr Op batched_matmul{"batched_matmul",
                                   OpKind::kernel,
                                   detail::infer_batched_matmul,
                                   detail::gradient_of_batched_matmul,
                                   Rank - 1,
                                   detail::items_of_batched_matmul};
}  // namespace op

namespace detail {
constexpr const Op& batched_matmul_of(std::size_t rank) {
  if (rank == 3) return op::batched_matmul<3>;
  if (rank == 4) return op::batched_matmul<4>;
  return rank == 5 ? op::batched_matmul<5> : op::batched_matmul<6>;
}

constexpr Tensor batched_product(Tensor a, Tensor b, Transpose transpose) {
  const Shape left = a.shape(), right = b.shape();
  const std::size_t rank = left.rank > right.rank ? left.rank : right.rank;
  Attributes how{.ints = {transpose.a ? 1 : 0, transpose.b ? 1 : 0}};
  const Extent items = left.rank == rank && !left[0].is_one() ? left[0] : right.from_right(rank - 1);
  if (left.rank == rank && left[0] == items) how.ints[2] |= 1;
  if (right.rank == rank && right[0] == items) how.ints[2] |= 2;
  return a.graph->apply(batched_matmul_of(rank), how, a, b);
}

// As for a single product. If an operand was used for several products, give() sums its gradients.
constexpr void gradient_of_batched_matmul(GradientScope& s) {
  const bool ta = s.attributes().ints[0] != 0, tb = s.attributes().ints[1] != 0;
  const Tensor a = s.input(0), b = s.input(1), g = s.full_upstream();
  if (s.wants(0)) s.give(0, ta ? matmul(b, g, {.a = tb, .b = true}) : matmul(g, b, {.a = false, .b = !tb}));
  if (s.wants(1)) s.give(1, tb ? matmul(g, a, {.a = true, .b = ta}) : matmul(a, g, {.a = !ta, .b = false}));
}
}  // namespace detail

}  // namespace crochet
