// SPDX-License-Identifier: Apache-2.0
// Normalisation layers. Variables are named `name/gamma`, `name/beta`, `name/moving_mean`, `name/moving_variance`, as
// in TensorFlow.
#pragma once
#include <crochet/graph/core/joined_name.hpp>
#include <crochet/graph/layers/layers.hpp>
#include <crochet/graph/ops/normalization.hpp>

namespace crochet {

namespace detail {
/// A variable with one number per channel of x (its last dimension).
constexpr Tensor channel_variable(Tensor x, std::string_view layer, std::string_view what, const Initializer& init) {
  const Shape s = x.shape();
  if (s.rank == 0) graph_error::wrong_rank(1, 0);
  return layer_variable(*x.graph, layer, what, x.dtype(), {s[s.rank - 1]}, init);
}
constexpr Tensor moving_average(Tensor x, std::string_view layer, std::string_view what, double begin) {
  const Shape s = x.shape();
  return x.graph->variable(joined_name(layer, what), x.dtype(), {s[s.rank - 1]}, constant_initializer(begin), false);
}
}  // namespace detail

/// layer_norm(x, gamma, beta), x [..., d]. gamma is initialised with ones, beta with zeros.
constexpr Tensor layer_norm(Tensor x, std::string_view name, NormOptions options = {}) {
  const Tensor gamma = detail::channel_variable(x, name, "/gamma", ones());
  return layer_norm(x, gamma, detail::channel_variable(x, name, "/beta", zeros()), options);
}
/// rms_norm(x, gamma). gamma is initialised with ones.
constexpr Tensor rms_norm(Tensor x, std::string_view name, NormOptions options = {}) {
  return rms_norm(x, detail::channel_variable(x, name, "/gamma", ones()), options);
}
/// group_norm(x, groups, gamma, beta). gamma is initialised with ones, beta with zeros.
constexpr Tensor group_norm(Tensor x, std::int32_t groups, std::string_view name, NormOptions options = {}) {
  const Tensor gamma = detail::channel_variable(x, name, "/gamma", ones());
  return group_norm(x, groups, gamma, detail::channel_variable(x, name, "/beta", zeros()), options);
}

struct BatchNormOptions {
  double momentum = 0.99;  ///< the weight of the old moving average in a training step
  double epsilon = 1e-3;
};

namespace detail {
/// moving <- momentum moving + (1 - momentum) now.
constexpr void follow(Tensor moving, Tensor now, double momentum) {
  moving.graph->assign_in_training(moving, moving * momentum + now * (1 - momentum));
}
}  // namespace detail

/// Batch normalisation: in training with the batch's mean and variance, otherwise with their moving averages. x [...,
/// c], the result has its shape. Defaults as in Keras.
/// - The moving averages are updated in every optimizer step and in no other run; if gradients are accumulated, in
///   each of a step's runs. minimize() adds the updates; unlike in TensorFlow 1 there are no update operations to run.
/// - The moving variance is the unbiased one (Ioffe and Szegedy, ICML 2015, algorithm 2).
/// - For evaluation call the network again under SharedVariables with `training` false.
constexpr Tensor batch_norm(Tensor x, std::string_view name, bool training, BatchNormOptions options = {}) {
  const Tensor gamma = detail::channel_variable(x, name, "/gamma", ones());
  const Tensor beta = detail::channel_variable(x, name, "/beta", zeros());
  const Tensor mean = detail::moving_average(x, name, "/moving_mean", 0);
  const Tensor variance = detail::moving_average(x, name, "/moving_variance", 1);
  if (!training) return batch_norm(x, gamma, beta, mean, variance, NormOptions{options.epsilon});
  GraphBuilder& g = *x.graph;
  const BatchNormalized batch = batch_norm_of_batch(x, gamma, beta, NormOptions{options.epsilon});
  const Tensor n = sum_over_ranks(g.count(x.shape().product(0, x.shape().rank - 1), x.dtype()));
  detail::follow(mean, batch.mean, options.momentum);
  detail::follow(variance, batch.variance * (n / maximum(n - 1, g.constant(x.dtype(), 1))), options.momentum);
  return batch.y;
}

}  // namespace crochet
