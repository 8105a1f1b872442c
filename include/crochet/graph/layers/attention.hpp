// SPDX-License-Identifier: Apache-2.0
// Attention as a layer.
#pragma once
#include <crochet/graph/core/joined_name.hpp>
#include <crochet/graph/layers/layers.hpp>
#include <crochet/graph/ops/attention.hpp>
#include <crochet/graph/ops/dot_product_attention.hpp>
#include <crochet/graph/ops/reshape.hpp>
#include <crochet/graph/ops/slice.hpp>
#include <crochet/graph/ops/transpose.hpp>

namespace crochet {

namespace detail {
constexpr Tensor multi_head_self_attention(Tensor x, std::int32_t heads, std::string_view name,
                                           const AttentionOptions& options, DType stored) {
  if (x.shape().rank != 3) graph_error::wrong_rank(3, static_cast<std::int64_t>(x.shape().rank));
  const std::int64_t d = x.shape()[2].factor;
  const Tensor qkv = dense(x, 3 * d, joined_name(name, "/qkv"), glorot_uniform(), stored);
  return dense(self_attention(qkv, heads, options), d, joined_name(name, "/out"), glorot_uniform(), stored);
}
constexpr Tensor multi_head_self_attention(Tensor x, std::int32_t heads, std::string_view name, Tensor seen,
                                           const AttentionOptions& options, DType stored) {
  const Shape s = x.shape();
  if (s.rank != 3) graph_error::wrong_rank(3, static_cast<std::int64_t>(s.rank));
  const std::int64_t d = s[2].factor;
  if (heads < 1 || d % heads != 0) graph_error::heads_do_not_divide_the_width(d, heads);
  const auto by_head = [&](Tensor t) { return transpose(reshape(t, {s[0], s[1], heads, d / heads}), {0, 2, 1, 3}); };
  const auto [q, k, v] = split<3>(dense(x, 3 * d, joined_name(name, "/qkv"), glorot_uniform(), stored), -1);
  const Tensor keys = reshape(seen, {s[0], 1, 1, s[1]});
  const Tensor y = scaled_dot_product_attention(by_head(q), by_head(k), by_head(v), keys, options);
  return dense(reshape(transpose(y, {0, 2, 1, 3}), s), d, joined_name(name, "/out"), glorot_uniform(), stored);
}
}  // namespace detail

/// Multi-head self-attention with projections: x [batch, length, d] -> [batch, length, d]. Source: Vaswani et al.,
/// NeurIPS 2017, section 3.2.2.
/// - Dense layer `name/qkv`, [d, 3 d], computes queries, keys and values; `name/out`, [d, d], projects the heads'
///   results.
/// - `heads` must divide d.
constexpr Tensor multi_head_self_attention(Tensor x, std::int32_t heads, std::string_view name,
                                           AttentionOptions options = {}) {
  return detail::multi_head_self_attention(x, heads, name, options, computed_as(x.dtype()));
}
/// For sequences with padding: `seen`, bool [batch, length], is false for the positions that no query attends to.
/// Composed of scaled_dot_product_attention and transposes: slower, with [batch, heads, length, length] in memory.
constexpr Tensor multi_head_self_attention(Tensor x, std::int32_t heads, std::string_view name, Tensor seen,
                                           AttentionOptions options = {}) {
  return detail::multi_head_self_attention(x, heads, name, seen, options, computed_as(x.dtype()));
}

/// With the kernels of both layers stored as W, as in dense<W>.
template <FloatingElement W>
constexpr Tensor multi_head_self_attention(Tensor x, std::int32_t heads, std::string_view name,
                                           AttentionOptions options = {}) {
  return detail::multi_head_self_attention(x, heads, name, options, dtype_of<W>);
}
/// The same for sequences with padding.
template <FloatingElement W>
constexpr Tensor multi_head_self_attention(Tensor x, std::int32_t heads, std::string_view name, Tensor seen,
                                           AttentionOptions options = {}) {
  return detail::multi_head_self_attention(x, heads, name, seen, options, dtype_of<W>);
}

}  // namespace crochet
