// SPDX-License-Identifier: Apache-2.0
// The networks of the comparison of an exported header with the executor.
#pragma once

#include <crochet/graph/layers/layers.hpp>
#include <crochet/graph/layers/normalization.hpp>
#include <crochet/graph/ops/pool.hpp>
#include <crochet/graph/ops/softmax.hpp>
#include <crochet/model.hpp>

namespace bench {

namespace cr = crochet;

/// 784-128-10.
struct Mlp {
  static constexpr void define(cr::GraphBuilder& g) {
    const cr::Tensor x = g.placeholder<float>("x", {g.dynamic("batch"), 784});
    g.name("logits", dense(relu(dense(x, 128, "hidden")), 10, "output"));
  }
};
/// Two convolutions of 3x3 with batch normalization, each with pooling, on 28x28.
struct Cnn {
  static constexpr void define(cr::GraphBuilder& g) {
    const cr::Tensor x = g.placeholder<float>("x", {g.dynamic("batch"), 28, 28, 1});
    const cr::Tensor a = max_pool(relu(batch_norm(conv2d(x, 16, {3, 3}, "a"), "norm_a", false)), 2);
    const cr::Tensor b = max_pool(relu(batch_norm(conv2d(a, 32, {3, 3}, "b"), "norm_b", false)), 2);
    g.name("logits", dense(flatten(b), 10, "output"));
  }
};

}  // namespace bench
