// SPDX-License-Identifier: Apache-2.0
// Estimates of the floating-point operations of a node, as profilers count them:
// - a product of [m, k] and [k, n]: 2 m n k (multiplications and additions);
// - a convolution: 2 for each tap of each output, including padding;
// - an elementwise operation: one per element, whatever the operation (exp is one);
// - a normalization, softmax or loss: by its formula including reductions, a constant per element read;
// - operations that only move elements: none;
// - unknown (custom) operations: one per element of the result.
// Kernels may do less: they may skip taps in the padding, and masked halves of attention.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <crochet/graph/core/op.hpp>

namespace crochet {

/// `each` operations for each of `elements`.
struct Work {
  double each = 0;
  Extent elements;

  constexpr double at(const Dims& dims) const { return each * static_cast<double>(elements.at(dims)); }
};

namespace detail {

/// Operations per element of the first input, or of the result.
struct WorkRule {
  std::string_view op;
  double each = 0;
  bool of_input = false;
};
inline constexpr WorkRule work_rules[] = {
    {"argmax", 1, true},
    {"argmin", 1, true},
    {"segment_sum", 1, true},
    {"add_along_rows", 1, true},
    {"top_k", 1, true},
    {"cumulative_sum", 1, false},
    {"softmax", 5, false},  // maximum, difference, exp, sum, quotient
    {"softmax_gradient", 4, false},
    {"log_softmax", 5, false},
    {"log_softmax_gradient", 4, false},
    {"logsumexp", 4, true},
    {"sparse_cross_entropy", 4, true},
    {"sparse_cross_entropy_gradient", 6, false},
    {"cross_entropy", 6, true},
    {"cross_entropy_gradient", 7, false},
    {"row_moments", 4, true},
    {"layer_norm", 4, false},
    {"layer_norm_gradient", 10, false},
    {"rms_norm", 2, false},
    {"rms_norm_gradient", 7, false},
    {"row_norm_scale_gradient", 4, true},
    {"batch_norm", 4, false},
    {"column_variance", 3, true},
    {"group_norm", 8, false},
    {"group_norm_gradient", 14, false},
    {"group_norm_scale_gradient", 8, true},
    {"turned_filter", 0, false},
    {"transpose", 0, false},
    {"broadcast_to", 0, false},
    {"concat", 0, false},
    {"slice", 0, false},
    {"pad", 0, false},
    {"gather", 0, false},
    {"take_along_rows", 0, false},
    {"iota", 0, false},
    {"count", 0, false},
    {"max_pool_gradient", 1, true},
};

/// Products of matrices and operations composed of them; each < 0: it is none. `in`: the inputs' shapes.
constexpr Work work_of_product(std::string_view op, const Shape& out, const Shape* const* in, const Attributes& a) {
  const auto taps = [&] { return Extent(std::int64_t{a.ints[0]} * a.ints[1]); };
  if (op == "matmul") return {2, out.size() * in[0]->from_right(a.ints[0] != 0 ? 1 : 0)};
  if (op == "batched_matmul") return {2, out.size() * in[0]->from_right(a.ints[0] != 0 ? 1 : 0)};
  if (op == "conv2d") return {2, out.size() * taps() * in[0]->from_right(0)};
  if (op == "conv2d_image_gradient") return {2, in[1]->size() * taps() * out.from_right(0)};
  if (op == "conv2d_filter_gradient") return {2, in[1]->size() * taps() * in[0]->from_right(0)};
  if (op == "depthwise_conv2d") return {2, out.size() * taps()};
  if (op == "depthwise_image_gradient" || op == "depthwise_filter_gradient") return {2, in[1]->size() * taps()};
  if (op == "max_pool" || op == "max_pool_winners" || op == "mean_pool") return {1, out.size() * taps()};
  if (op == "mean_pool_gradient") return {1, in[0]->size() * taps()};
  // Attention: each product takes 2 operations for each element of a [length, width] operand and each of `length` keys.
  if (op == "attention_probabilities") return {2.0 / 3, in[0]->size() * out.from_right(0)};
  if (op == "attention_mix") return {2, out.size() * in[0]->from_right(0)};
  if (op == "self_attention") return {4, out.size() * out.from_right(1)};
  if (op == "attention_mix_gradient") return {8, in[1]->size() * in[1]->from_right(1)};
  if (op == "self_attention_gradient") return {10, in[1]->size() * in[1]->from_right(1)};
  return {-1, {}};
}

}  // namespace detail

/// The work of a node with a result of shape `out` and inputs of the shapes `in`.
constexpr Work work_of(const Op& op, const Shape& out, const Shape* const* in, const Attributes& attributes) {
  if (op.kind == OpKind::elementwise) return {1, out.size()};
  if (op.kind != OpKind::kernel) return {};
  if (op.reduces) return {1, in[0]->size()};
  const Work product = detail::work_of_product(op.name, out, in, attributes);
  if (product.each >= 0) return product;
  for (const detail::WorkRule& rule : detail::work_rules) {
    if (rule.op == op.name) return {rule.each, rule.of_input ? in[0]->size() : out.size()};
  }
  return {1, out.size()};
}

}  // namespace crochet
