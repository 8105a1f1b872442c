// SPDX-License-Identifier: Apache-2.0
// Attention of any queries to any keys, made of other operations: for cross-attention, masks and shapes that
// self_attention does not have. That one is faster where it serves.
#pragma once
#include <crochet/graph/ops/attention.hpp>
#include <crochet/graph/ops/batched_matmul.hpp>
#include <crochet/graph/ops/elementwise.hpp>
#include <crochet/graph/ops/iota.hpp>
#include <crochet/graph/ops/softmax.hpp>

namespace crochet {

namespace detail {
/// Scores that the softmax makes 0: far below all others, and finite, so that a row that is hidden as a whole is no
/// NaN.
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

/// softmax(q k^T / sqrt(d)) v: q [..., queries, d], k [..., keys, d], v [..., keys, e] -> [..., queries, e]; the
/// dimensions before them (batch, heads) broadcast. With `causal`, query i sees keys 0 ... i. Vaswani et al., NeurIPS
/// 2017, eq. 1.
constexpr Tensor scaled_dot_product_attention(Tensor q, Tensor k, Tensor v, AttentionOptions options = {}) {
  return detail::attend(detail::attention_scores(q, k), v, options);
}
/// The same for the keys that `seen`, bool, broadcast to [..., queries, keys], lets a query see. A query that sees none
/// attends to all of them equally, as in JAX (in PyTorch it is NaN).
constexpr Tensor scaled_dot_product_attention(Tensor q, Tensor k, Tensor v, Tensor seen,
                                              AttentionOptions options = {}) {
  return detail::attend(detail::hidden_unless(seen, detail::attention_scores(q, k)), v, options);
}

}  // namespace crochet
