// SPDX-License-Identifier: Apache-2.0
// Attention of arbitrary queries to arbitrary keys, composed of other operations: for cross-attention, masks, and
// shapes that self_attention does not support. Where self_attention applies it is faster.
#pragma once
#include <crochet/graph/ops/attention.hpp>
#include <crochet/graph/ops/batched_matmul.hpp>
#include <crochet/graph/ops/elementwise.hpp>
#include <crochet/graph/ops/iota.hpp>
#include <crochet/graph/ops/softmax.hpp>

namespace crochet {

namespace detail {
/// Sets masked scores to a value that the softmax maps to 0. It is finite, so a fully masked row is not NaN.
constexpr Tensor hidden_unless(Tensor seen, Tensor scores) {
  return select(seen, scores, scores.graph->constant(scores.dtype(), -1e30));
}
constexpr Tensor attention_scores(Tensor q, Tensor k) {
  const Extent width = q.shape().from_right(0);
  if (!width.is_static() || width.factor < 1) graph_error::heads_do_not_divide_the_width(width.factor, 1);
  return matmul(q * (1 / square_root(static_cast<double>(width.factor))), k, {.a = false, .b = true});
}
constexpr Tensor attend(Tensor scores, Tensor v, AttentionOptions options) {
  const Shape s = scores.shape();
  if (options.causal) {
    scores = hidden_unless(lower_triangle(*v.graph, s.from_right(1), s.from_right(0)), scores);
  }
  return matmul(softmax(scores), v);
}
}  // namespace detail

/// softmax(q k^T / sqrt(d)) v.
/// - Shapes: q [..., queries, d], k [..., keys, d], v [..., keys, e] -> [..., queries, e]. The leading dimensions
///   (batch, heads) broadcast.
/// - `causal`: query i attends to keys 0 ... i only.
/// - Source: Vaswani et al., NeurIPS 2017, eq. 1.
constexpr Tensor scaled_dot_product_attention(Tensor q, Tensor k, Tensor v, AttentionOptions options = {}) {
  return detail::attend(detail::attention_scores(q, k), v, options);
}
/// As above, with a mask: `seen`, bool, broadcast to [..., queries, keys], is true for the keys that a query attends
/// to. A fully masked query attends to all keys equally, as in JAX (PyTorch: NaN).
constexpr Tensor scaled_dot_product_attention(Tensor q, Tensor k, Tensor v, Tensor seen,
                                              AttentionOptions options = {}) {
  return detail::attend(detail::hidden_unless(seen, detail::attention_scores(q, k)), v, options);
}

}  // namespace crochet
