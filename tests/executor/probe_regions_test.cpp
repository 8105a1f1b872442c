// SPDX-License-Identifier: Apache-2.0
// Probes on graphs that the executor rearranges: item regions, poolings moved first, values that are recomputed, or
// copied before they are overwritten.
#include "probes.hpp"

namespace crochet {
namespace probe_regions_test {

/// A small transformer block. All of it is one item region, forward and backward.
struct Block {
  static constexpr void define(GraphBuilder& g) {
    const auto batch = g.dynamic("batch");
    const auto x = g.placeholder<double>("x", {batch, 18, 8});
    const auto h = x + dense(self_attention(dense(layer_norm(x, "norm"), 24, "qkv"), 2), 8, "project");
    const auto y = h + dense(gelu(dense(h, 16, "up")), 8, "down");
    const auto loss = g.name("loss", reduce_mean(square(y)));
    g.name("train", minimize(loss, SGD{.learning_rate = 0.1}));
  }
};

/// A bias and relu before a pooling, which pool_first moves, and their gradients.
struct Pooled {
  static constexpr void define(GraphBuilder& g) {
    const auto batch = g.dynamic("batch");
    const auto x = g.placeholder<double>("x", {batch, 8, 8, 1});
    const auto pooled = max_pool(relu(conv2d(x, 5, {3, 3}, "conv")), 2);
    const auto y = dense(reshape(pooled, {batch, 4 * 4 * 5}), 3, "output");
    const auto loss = g.name("loss", reduce_mean(square(y)));
    g.name("train", minimize(loss, SGD{.learning_rate = 0.1}));
  }
};

/// A variable is assigned twice and read before, between and after the assignments.
struct Overwritten {
  static constexpr void define(GraphBuilder& g) {
    const auto x = g.placeholder<double>("x", {3});
    const auto v = g.variable<double>("v", {3}, uniform(-1, 1));
    const auto before = v * 2.0;
    const auto first = g.assign(v, v + x);
    const auto between = v * 3.0;
    const auto second = g.assign(v, v * x);
    const auto loss = g.name("loss", reduce_sum(before + between + v));
    g.name("train", group({first, second, loss}));
  }
};

TEST(ProbeRegions, ATransformersBlock) {
  watch_everything<Block>(1, {3, 1}, 1e-9);
  watch_everything<Block>(2, {5, 1}, 1e-9);
}
TEST(ProbeRegions, PoolingThatComesFirst) { watch_everything<Pooled>(2, {3, 1}, 1e-9); }
TEST(ProbeRegions, ValuesThatAreOverwritten) { watch_everything<Overwritten>(1, {1, 1}, 1e-12); }

}  // namespace probe_regions_test
}  // namespace crochet
