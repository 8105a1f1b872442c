// SPDX-License-Identifier: Apache-2.0
// What the headers of kernels/ use of graph/, for NVRTC: operations as names without rules. Every header of graph/ that
// they include stands for this file (executor/cuda/device_headers.ipp). tests/cuda/names_of_operations.cmake compares the
// names.
#pragma once
#include <cstdint>

namespace crochet {

enum class Layout : std::uint8_t { row_major, panels };
enum class BroadcastMode : std::uint8_t { none, full, row, column, scalar };

struct Op {
  int unused = 0;
};
constexpr int cost_of(const Op&) { return 1; }

namespace op {

template <std::size_t Rank>
inline constexpr Op batched_matmul{};
inline constexpr Op abs, acos, acosh, add, add_along_rows, argmax, argmin, asin, asinh, assign, atan, atan2, atanh,
    attention_mix, attention_mix_gradient, attention_probabilities, batch_norm, broadcast_to, cast, ceil, checkpoint,
    column_variance, concat, constant, conv2d, conv2d_filter_gradient, conv2d_image_gradient, cos, count, cross_entropy,
    cross_entropy_gradient, cumulative_sum, depthwise_conv2d, depthwise_filter_gradient, depthwise_image_gradient, div,
    equal, erf, erfc, exp, expm1, floor, floor_divide, gather, greater, greater_equal, group, group_norm,
    group_norm_gradient, group_norm_scale_gradient, identity, iota, layer_norm, layer_norm_gradient, less, less_equal,
    log, log1p, log_softmax, log_softmax_gradient, logical_and, logical_not, logical_or, logical_xor, logsumexp, matmul,
    max_pool, max_pool_gradient, max_pool_winners, maximum, mean_pool, mean_pool_gradient, minimum, mod, mul, neg,
    not_equal, pad, placeholder, pow, random_bool, random_normal, random_uniform, recompute_from, reduce_all,
    reduce_any, reduce_max, reduce_mean, reduce_min, reduce_prod, reduce_sum, relu, relu_gradient, reshape, rms_norm,
    rms_norm_gradient, round, row_moments, row_norm_scale_gradient, rsqrt, segment_sum, select, self_attention,
    self_attention_gradient, sigmoid, sigmoid_cross_entropy, sign, sin, slice, softmax, softmax_gradient, softplus,
    sparse_cross_entropy, sparse_cross_entropy_gradient, sqrt, square, stop_gradient, sub, take_along_rows, tanh, top_k,
    transpose, trunc, turned_filter, variable, with_dependencies;

}  // namespace op
}  // namespace crochet
