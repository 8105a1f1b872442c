// SPDX-License-Identifier: Apache-2.0
// Networks of different kinds for tests on several ranks, and their training.
#pragma once

#include <cmath>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include <crochet/executor/cpu.hpp>

namespace ranks_models {

namespace cr = crochet;

// The optimizers here have no quotients of gradients: biases before a batch norm, and those of keys, have gradients of
// 0 up to rounding, which Adam would turn into steps of its rate.
constexpr std::int64_t side = 6, features = side * side, classes = 4;

struct Cnn {
  static constexpr void define(cr::GraphBuilder& g) {
    const auto batch = g.dynamic("batch");
    auto x = cr::reshape(g.placeholder<float>("x", {batch, features}), {batch, side, side, 1});
    const auto y = g.placeholder<std::int32_t>("y", {batch});
    x = cr::relu(cr::batch_norm(cr::conv2d(x, 4, {3, 3}, "conv"), "norm", true));
    x = cr::dropout(cr::flatten(x), 0.3);
    const auto loss =
        g.name("loss", cr::reduce_mean(cr::sparse_softmax_cross_entropy(cr::dense(x, classes, "out"), y)));
    g.name("train", cr::minimize(loss, cr::Momentum{0.01, 0.9}, {.clip = cr::ClipByGlobalNorm{1.0}}));
  }
};

/// A loss that is a sum, with weight decay that follows the batch.
struct SummedLoss {
  static constexpr void define(cr::GraphBuilder& g) {
    const auto batch = g.dynamic("batch");
    const auto x = g.placeholder<float>("x", {batch, features});
    const auto y = g.placeholder<std::int32_t>("y", {batch});
    const auto h = cr::layer_norm(cr::tanh(cr::dense(x, 8, "hidden")), "norm");
    const auto out = cr::dense(h, classes, "out");
    const auto loss = g.name("loss", cr::reduce_sum(cr::square(out - cr::one_hot<float>(y, classes))));
    g.name("train", cr::minimize(loss, cr::Momentum{0.001, 0.9}));
  }
};

/// Random numbers that reach variables: noise and dropped weights are those of one machine on every rank, and rows of
/// which each example has several have their own masks.
struct Noisy {
  static constexpr void define(cr::GraphBuilder& g) {
    const auto batch = g.dynamic("batch");
    const auto x = g.placeholder<float>("x", {batch, features});
    const auto y = g.placeholder<std::int32_t>("y", {batch});
    const auto w = g.variable<float>("w", {features, classes}, cr::glorot_uniform());
    const auto pieces = cr::dropout(cr::reshape(x, {batch * 6, features / 6}), 0.3);
    const auto logits = cr::matmul(cr::reshape(pieces, {batch, features}), cr::dropout(w, 0.2));
    const auto loss = g.name("loss", cr::sparse_softmax_cross_entropy(logits, y));
    const auto noise = g.variable<float>("noise", {4}, cr::zeros(), false);
    const auto drawn = g.assign(noise, cr::random_uniform<float>(g, {4}));
    g.name("train", cr::group({cr::minimize(loss, cr::Momentum{0.01, 0.9}), drawn}));
  }
};

/// A transformer block over characters, as in examples/char_lm.
struct Transformer {
  static constexpr void define(cr::GraphBuilder& g) {
    const auto batch = g.dynamic("batch");
    const auto x = g.placeholder<float>("x", {batch, features});
    const auto y = g.placeholder<std::int32_t>("y", {batch});
    auto t = cr::reshape(x, {batch, 6, 6});
    t = t + cr::multi_head_self_attention(cr::layer_norm(t, "before"), 2, "attention");
    t = cr::layer_norm(t + cr::dense(cr::gelu(cr::dense(t, 12, "wide")), 6, "narrow"), "after");
    const auto loss = g.name("loss", cr::sparse_softmax_cross_entropy(cr::dense(cr::flatten(t), classes, "out"), y));
    g.name("train", cr::minimize(loss, cr::Momentum{0.01, 0.9}));
  }
};

struct Accumulated {
  static constexpr void define(cr::GraphBuilder& g) {
    const auto batch = g.dynamic("batch");
    const auto x = g.placeholder<float>("x", {batch, features});
    const auto y = g.placeholder<std::int32_t>("y", {batch});
    const auto out = cr::dense(cr::relu(cr::dense(x, 8, "hidden")), classes, "out");
    const auto loss = g.name("loss", cr::reduce_mean(cr::sparse_softmax_cross_entropy(out, y)));
    g.name("train", cr::minimize(loss, cr::SGD{0.1}, {.accumulate = {.steps = 3}}));
  }
};

/// Trains on this rank's rows of each batch. Returns the losses, and all variables after the last step.
template <class Executor>
std::vector<float> train(Executor& executor, std::int64_t batch, int rank, int ranks, int steps) {
  executor.initialize();
  typename Executor::Workspace workspace;
  const std::int64_t from = batch * rank / ranks, rows = batch * (rank + 1) / ranks - from;
  std::vector<float> x(static_cast<std::size_t>(rows * features));
  std::vector<std::int32_t> y(static_cast<std::size_t>(rows));
  using Demand =
      cr::detail::demand_for<Executor, cr::detail::List<cr::Name<"loss">>, cr::detail::List<cr::Name<"train">>>;
  std::vector<float> all;
  for (int step = 0; step < steps; ++step) {
    for (std::int64_t r = 0; r < rows; ++r) {
      const std::int64_t row = from + r + step * batch;
      y[static_cast<std::size_t>(r)] = static_cast<std::int32_t>(row * 7 % classes);
      for (std::int64_t c = 0; c < features; ++c) {
        x[static_cast<std::size_t>(r * features + c)] =
            std::sin(static_cast<float>(row * 13 + c * 5)) + (c % classes == row * 7 % classes ? 1.0F : 0.0F);
      }
    }
    const cr::TensorView<float, 2> images{x.data(), {rows, features}};
    const cr::TensorView<std::int32_t, 1> labels{y.data(), {rows}};
    executor.template run<Demand>(workspace, cr::feed<"x">(images), cr::feed<"y">(labels));
    all.push_back(executor.template fetch<cr::Name<"loss">>(workspace));
  }
  std::as_const(executor).for_each_variable([&](std::string_view name, auto elements, auto) {
    if (name.ends_with("/gradient_accumulator")) return true;  // each rank has its own
    for (const auto e : elements) all.push_back(static_cast<float>(e));
    return true;
  });
  return all;
}

}  // namespace ranks_models
