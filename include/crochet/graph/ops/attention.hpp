// SPDX-License-Identifier: Apache-2.0
// Attention.
#pragma once
#include <crochet/graph/gradient_scope.hpp>

namespace crochet {

namespace detail {
constexpr TypedShape infer_self_attention(const OpInputs& in) {
  in.want_floating(0);
  in.want_rank(0, 3);
  Shape out = in.shape(0);
  const std::int64_t heads = in.attributes.ints[0];
  if (heads < 1 || !divides(3 * heads, out[2])) graph_error::heads_do_not_divide_the_width(out[2].factor / 3, heads);
  out[2] = out[2] / 3;
  return {in[0].dtype, out};
}
constexpr TypedShape infer_self_attention_gradient(const OpInputs& in) { return in[0]; }
template <unsigned Mask>
constexpr unsigned all_by_item(const Attributes&) {
  return Mask;
}
constexpr void gradient_of_self_attention(GradientScope& s);
}  // namespace detail

namespace op {
/// inputs = {qkv [batch, length, 3 d]} -> [batch, length, d]; ints = {heads, causal}.
inline constexpr Op self_attention{
    "self_attention",      OpKind::kernel, detail::infer_self_attention, detail::gradient_of_self_attention, -1,
    detail::all_by_item<1>};
/// inputs = {qkv, upstream [batch, length, d]} -> [batch, length, 3 d].
inline constexpr Op self_attention_gradient{
    "self_attention_gradient", OpKind::kernel, detail::infer_self_attention_gradient, nullptr, -1,
    detail::all_by_item<3>};
}  // namespace op

struct AttentionOptions {
  bool causal = false;  ///< a position sees itself and those before it
};

/// Multi-head attention of sequences to themselves: for each head softmax(q k^T / sqrt(d / heads)) v. qkv [batch,
/// length, 3 d] holds q, k and v side by side, as one dense layer makes them; in each of them the heads lie side by
/// side, d / heads wide. The result, [batch, length, d], holds the heads' results side by side. Vaswani et al., NeurIPS
/// 2017, eq. 1 and section 3.2.2. The probabilities are kept for a few rows at a time only and made again for the
/// gradient: memory grows with the length, not its square.
constexpr Tensor self_attention(Tensor qkv, std::int32_t heads, AttentionOptions options = {}) {
  const Attributes a{.ints = {heads, options.causal ? 1 : 0}};
  return qkv.graph->apply(op::self_attention, a, qkv);
}

namespace detail {
constexpr void gradient_of_self_attention(GradientScope& s) {
  const Attributes a = s.attributes();
  s.give(0, s.graph().apply(op::self_attention_gradient, a, s.input(0), s.full_upstream()));
}
}  // namespace detail

}  // namespace crochet
