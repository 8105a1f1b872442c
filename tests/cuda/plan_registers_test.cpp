// SPDX-License-Identifier: Apache-2.0
// The plans of whole networks, compiled to code for a GPU by NVRTC: registers, and no spill. Without NVRTC skipped.
#include <gtest/gtest.h>
#include <crochet/crochet.hpp>
#include <crochet/executor/cpu.hpp>

#include "compiled_plan.hpp"

namespace crochet {
namespace plan_registers_test {

using compiled_plan::compiles_without_spills;
using compiled_plan::Loss;
using compiled_plan::Mlp;
using compiled_plan::Train;
using cuda::ProductParts;

struct Cnn {
  static constexpr void define(GraphBuilder& g) {
    const Extent batch = g.dynamic("batch");
    const Tensor images = g.placeholder<float>("x", {batch, 784}),
                 labels = g.placeholder<std::int32_t>("labels", {batch});
    Tensor x = reshape(images, {batch, 28, 28, 1});
    x = max_pool(relu(batch_norm(conv2d(x, 16, {3, 3}, "conv1"), "norm", true)), 2);
    x = max_pool(relu(conv2d(x, 32, {3, 3}, "conv2", {.padding = Padding::valid})), 2);
    const Tensor logits = dense(dropout(relu(dense(flatten(x), 64, "hidden")), 0.5), 10, "out");
    g.name("train", minimize(g.name("loss", sparse_softmax_cross_entropy(logits, labels)), Momentum{}));
  }
};
struct Transformer {
  static constexpr void define(GraphBuilder& g) {
    const Extent batch = g.dynamic("batch");
    const Tensor ids = g.placeholder<std::int32_t>("ids", {batch, 64}),
                 next = g.placeholder<std::int32_t>("next", {batch, 64});
    const Tensor table = g.variable<float>("embedding", {65, 64}, uniform(-0.1, 0.1));
    Tensor x = gather(table, ids);
    x = x + multi_head_self_attention(layer_norm(x, "norm1"), 4, "attention", {.causal = true});
    x = x + dense(gelu(dense(layer_norm(x, "norm2"), 256, "up")), 64, "down");
    const Tensor logits = dense(x, 65, "out");
    g.name("train", minimize(g.name("loss", reduce_mean(sparse_softmax_cross_entropy(reshape(logits, {rest, 65}),
                                                                                     reshape(next, {rest})))),
                             AdamW{}));
  }
};
struct InDouble {
  static constexpr void define(GraphBuilder& g) {
    const Extent batch = g.dynamic("batch");
    const Tensor x = g.placeholder<double>("x", {batch, 37}), y = g.placeholder<double>("y", {batch, 37});
    Tensor h = x;
    h = tanh(dense(h, 37, "a"));
    h = tanh(dense(h, 37, "b"));
    g.name("train", minimize(g.name("loss", reduce_mean(square(h - y))), RMSProp{}));
  }
};

TEST(PlanRegisters, OfACnnAreEnough) { compiles_without_spills<Cnn>(255); }
TEST(PlanRegisters, OfATransformerAreEnough) { compiles_without_spills<Transformer>(255); }
TEST(PlanRegisters, OfDoublesAreEnough) { compiles_without_spills<InDouble>(255); }
TEST(PlanRegisters, OfTheOldestGpuAreEnough) { compiles_without_spills<Mlp>(255, {75}); }

TEST(PlanRegisters, OfAnMlpWithProductsOnTensorCoresAreEnough) {
  compiles_without_spills<Mlp, Loss>(255, {80}, MatmulPrecision::tf32);
  compiles_without_spills<Mlp, Loss>(255, {90}, MatmulPrecision::bf16);
}

// A plan whose sizes need no larger tiles of products has no code for them.
TEST(PlanTiles, AreThereUpToTheLargestThatIsNeeded) {
  using T = cuda::DeviceTables<Mlp>;
  const auto source = cuda::StoredSource<cpu::Planned<T, Train>>::source();
  EXPECT_NE(cuda::plan_text(source).find("DeviceBlockOf<MatmulPrecision::fp32, 128>"), std::string::npos);
  if (!cuda::has_nvrtc()) GTEST_SKIP() << "there is no NVRTC here";
  const auto bytes = [&](int tile) {
    return cuda::compile_text(cuda::plan_text(source, MatmulPrecision::fp32, tile)).code.size();
  };
  EXPECT_LT(bytes(ProductParts::small_tile) + 10000, bytes(ProductParts::large_tile));
}

}  // namespace plan_registers_test
}  // namespace crochet
