// SPDX-License-Identifier: Apache-2.0
// Attention as a layer.
#pragma once
#include <crochet/graph/layers/layers.hpp>
#include <crochet/graph/ops/attention.hpp>

namespace crochet {

/// Multi-head self-attention with projections: x [batch, length, d] -> [batch, length, d]. Source: Vaswani et al.,
/// NeurIPS 2017, section 3.2.2.
/// - Dense layer `name/qkv`, [d, 3 d], computes queries, keys and values; `name/out`, [d, d], projects the heads'
///   results.
/// - `heads` must divide d.
constexpr Tensor multi_head_self_attention(Tensor x, std::int32_t heads, std::string_view name,
                                           AttentionOptions options = {}) {
  if (x.shape().rank != 3) graph_error::wrong_rank(3, static_cast<std::int64_t>(x.shape().rank));
  const std::int64_t d = x.shape()[2].factor;
  const Tensor qkv = dense(x, 3 * d, detail::joined(name, "/qkv").view());
  return dense(self_attention(qkv, heads, options), d, detail::joined(name, "/out").view());
}

}  // namespace crochet
