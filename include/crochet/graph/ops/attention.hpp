// SPDX-License-Identifier: Apache-2.0
// Attention operations.
#pragma once
#include <crochet/graph/ops/gradient_scope.hpp>

namespace crochet {

namespace detail {
// Attributes of all operations here: ints = {heads, causal}.
constexpr std::int64_t width_of_qkv(const OpInputs& in, std::size_t i) {
  in.want_floating(i);
  in.want_rank(i, 3);
  const Extent width = in.shape(i)[2];
  const std::int64_t heads = in.attributes.ints[0];
  if (heads < 1 || !width.is_static() || !divides(3 * heads, width))
    graph_error::heads_do_not_divide_the_width(width.factor / 3, heads);
  return width.factor / 3;
}
constexpr TypedShape infer_self_attention(const OpInputs& in) {
  const std::int64_t width = width_of_qkv(in, 0);
  return {in[0].dtype, {in.shape(0)[0], in.shape(0)[1], width}};
}
constexpr TypedShape infer_attention_probabilities(const OpInputs& in) {
  (void)width_of_qkv(in, 0);
  const Shape& qkv = in.shape(0);
  return {in[0].dtype, {qkv[0], in.attributes.ints[0], qkv[1], qkv[1]}};
}
constexpr TypedShape infer_attention_mix(const OpInputs& in) {
  const std::int64_t width = width_of_qkv(in, 1);
  return {in[1].dtype, {in.shape(1)[0], in.shape(1)[1], width}};
}
constexpr TypedShape infer_self_attention_gradient(const OpInputs& in) { return in[0]; }
template <unsigned Mask>
constexpr unsigned all_by_item(const Attributes&) {
  return Mask;
}
constexpr void gradient_of_self_attention(GradientScope& s);
constexpr void gradient_of_attention_mix(GradientScope& s);
constexpr Op attention(std::string_view name, TypedShape (*infer)(const OpInputs&), void (*gradient)(GradientScope&),
                       unsigned (*itemwise)(const Attributes&)) {
  return {name, OpKind::kernel, infer, gradient, -1, itemwise};
}
}  // namespace detail

// Attributes of all operations here: ints = {heads, causal}.
namespace op {
/// inputs = {qkv [batch, length, 3 d]} -> [batch, length, d].
inline constexpr Op self_attention = detail::attention("self_attention", detail::infer_self_attention,
                                                       detail::gradient_of_self_attention, detail::all_by_item<1>);
/// inputs = {qkv, upstream [batch, length, d]} -> [batch, length, 3 d]. Computes the probabilities again.
inline constexpr Op self_attention_gradient = detail::attention(
    "self_attention_gradient", detail::infer_self_attention_gradient, nullptr, detail::all_by_item<3>);
/// First half of self_attention, if the probabilities are kept: inputs = {qkv} -> [batch, heads, length, length].
inline constexpr Op attention_probabilities = detail::attention(
    "attention_probabilities", detail::infer_attention_probabilities, nullptr, detail::all_by_item<1>);
/// Second half: inputs = {probabilities, qkv} -> [batch, length, d]. Its gradient is that of both halves.
inline constexpr Op attention_mix = detail::attention("attention_mix", detail::infer_attention_mix,
                                                      detail::gradient_of_attention_mix, detail::all_by_item<3>);
/// inputs = {qkv, upstream [batch, length, d], probabilities} -> [batch, length, 3 d].
inline constexpr Op attention_mix_gradient =
    detail::attention("attention_mix_gradient", detail::infer_self_attention_gradient, nullptr, detail::all_by_item<7>);
}  // namespace op

struct AttentionOptions {
  bool causal = false;  ///< a position attends to itself and earlier ones only
};

namespace detail {
/// Whether the probabilities take no more memory than qkv. They are then kept for the gradient.
constexpr bool keeps_probabilities(const Shape& qkv, std::int64_t heads) {
  return qkv.rank == 3 && qkv[1].is_static() && qkv[1].factor * heads <= qkv[2].factor;
}
}  // namespace detail

/// Multi-head self-attention: for each head softmax(q k^T / sqrt(d / heads)) v.
/// - `qkv`: [batch, length, 3 d], the concatenation of q, k and v along the last axis, as computed by one dense layer.
///   Each of them is the concatenation of `heads` heads of width d / heads.
/// - Result: [batch, length, d], the concatenation of the heads' results.
/// - Memory: for long sequences the probabilities are computed for a few queries at a time, and again in the gradient,
///   so memory grows linearly with the length.
/// - Source: Vaswani et al., NeurIPS 2017, eq. 1 and section 3.2.2.
constexpr Tensor self_attention(Tensor qkv, std::int32_t heads, AttentionOptions options = {}) {
  const Attributes a{.ints = {heads, options.causal ? 1 : 0}};
  if (!detail::keeps_probabilities(qkv.shape(), heads)) return qkv.graph->apply(op::self_attention, a, qkv);
  return qkv.graph->apply(op::attention_mix, a, qkv.graph->apply(op::attention_probabilities, a, qkv), qkv);
}

namespace detail {
constexpr void gradient_of_self_attention(GradientScope& s) {
  const Attributes a = s.attributes();
  s.give(0, s.graph().apply(op::self_attention_gradient, a, s.input(0), s.full_upstream()));
}
constexpr void gradient_of_attention_mix(GradientScope& s) {
  const Attributes a = s.attributes();
  s.give(1, s.graph().apply(op::attention_mix_gradient, a, s.input(1), s.full_upstream(), s.input(0)));
}
}  // namespace detail

}  // namespace crochet
