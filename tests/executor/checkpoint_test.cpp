// SPDX-License-Identifier: Apache-2.0
// Gradient checkpointing: a deep model with and without marks trains to the same bits; the marks reduce the workspace.
#include <array>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <crochet/executor/cpu.hpp>
#include <crochet/graph/ops/random.hpp>
#include <crochet/graph/passes/arena.hpp>
#include <crochet/graph/train/checkpoint.hpp>

#include "against_oracle.hpp"

namespace crochet {
namespace checkpoint_test {

constexpr int layers = 12, width = 32;

/// A mark before every `every`-th layer; 0: none. Dropout: random numbers must be drawn only once.
template <int every>
struct Deep {
  static constexpr void define(GraphBuilder& g) {
    Tensor x = g.placeholder<float>("x", {g.dynamic("batch"), width});
    for (int i = 0; i < layers; ++i) {
      if (every != 0 && i % (every == 0 ? 1 : every) == 0) x = checkpoint(x);
      const char name[] = {'l', static_cast<char>('a' + i)};
      x = tanh(dense(x, width, {name, 2}));
      if (i == 5) x = dropout(x, 0.25, {.name = "drop"});
    }
    g.name("train", minimize(g.name("loss", reduce_mean(square(x))), SGD{0.1}));
  }
};

using Demanded = Demand<Names<Name<"loss">>, Names<Name<"train">>>;
template <int every>
using E = decltype(DeviceUnderTest{}.compile<Deep<every>>());

/// The bits of every variable after some steps.
template <int every>
std::vector<float> trained(int threads) {
  auto executor = DeviceUnderTest{.threads = threads, .seed = 7}.compile<Deep<every>>();
  executor.initialize();
  typename E<every>::Workspace w;
  std::vector<float> x(std::size_t{48} * width);
  for (int step = 0; step < 3; ++step) {
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(static_cast<int>(i * 7 + i / 32) % 13 - 6) / 6;
    executor.template run<Demanded>(w, Feed<Name<"x">, std::vector<float>>{x});
  }
  std::vector<float> all;
  const auto take = [&](auto name) {
    for (float v : executor.variable(name)) all.push_back(v);
  };
  take(Name<"la/kernel">{}), take(Name<"la/bias">{}), take(Name<"ld/kernel">{}), take(Name<"le/kernel">{});
  take(Name<"lf/kernel">{}), take(Name<"lg/bias">{}), take(Name<"ll/kernel">{});
  return all;
}

TEST(Checkpoint, GradientsAreTheSameBits) {
  for (int threads : {1, 2}) {
    EXPECT_EQ(trained<0>(threads), trained<4>(threads)) << threads << " threads";
    EXPECT_NE(trained<0>(threads)[0], 0.0F);
  }
}

/// Marks of a value that a loop of the forward pass reduces, and of one that reads it.
struct OfAReduction {
  static constexpr void define(GraphBuilder& g) {
    const Extent batch = g.dynamic("batch");
    const Tensor x = g.placeholder<float>("x", {batch, 6}), labels = g.placeholder<std::int32_t>("labels", {batch});
    const Tensor gain = g.variable<float>("gain", {6}, ones());
    const Tensor size = checkpoint(reduce_mean(square(gain)));
    const Tensor hidden = checkpoint(dense(x * gain * (tanh(size) * size), 4, "hidden"));
    const Tensor loss = g.name("loss", sparse_softmax_cross_entropy(tanh(dense(hidden, 4, "output")), labels));
    g.name("train", minimize(loss, SGD{.learning_rate = 0.1}));
  }
};
TEST(Checkpoint, OfAReductionHasAPlan) {
  AgainstOracle<OfAReduction> both(2, 2e-4);
  for (int step = 0; step < 3; ++step) both.run(Names<Name<"loss">>{}, Names<Name<"train">>{}, {5});
}

TEST(Checkpoint, TakesLessWorkspace) {
  constexpr Dims dims{256, 1, 1, 1};
  const std::int64_t plain = workspace_bytes(E<0>::plan_of<Demanded>::plan, dims);
  const std::int64_t marked = workspace_bytes(E<4>::plan_of<Demanded>::plan, dims);
  RecordProperty("plain", std::to_string(plain));
  RecordProperty("marked", std::to_string(marked));
  EXPECT_LT(marked, plain * 7 / 10) << marked << " of " << plain;
  EXPECT_GE(plain, layers * 256 * width * 4) << "every layer's result waits for the backward sweep";
}

TEST(Checkpoint, AgreesWithTheOracle) {
  AgainstOracle<Deep<4>> both(2, 2e-4);
  for (std::int64_t batch : {33, 5}) both.run(Names<Name<"loss">>{}, Names<Name<"train">>{}, {batch});
}

TEST(Checkpoint, WithoutALossItIsTheValueItself) {
  GraphBuilder g;
  const Tensor x = g.placeholder<float>("x", {3, 4}), y = checkpoint(x);
  EXPECT_TRUE(y.shape() == x.shape());
  EXPECT_TRUE(make_plan(simplify(g.graph(), ConstexprVector<int>{y.id}, ConstexprVector<int>{})).steps.empty());
}

}  // namespace checkpoint_test
}  // namespace crochet
