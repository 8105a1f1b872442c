// SPDX-License-Identifier: Apache-2.0
// Means over batches of unequal size: those of one machine, and the same on every rank.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include <crochet/crochet.hpp>
#include <crochet/data.hpp>
#include <crochet/executor/cpu.hpp>
#include <crochet/hooks/checkpoint_input_pipeline.hpp>
#include <crochet/hooks/epoch_means.hpp>
#include <crochet/hooks/evaluate.hpp>
#include <crochet/hooks/in_memory_evaluator.hpp>
#include <crochet/ranks/parallel.hpp>
#include <crochet/testing/thread_ranks.hpp>

namespace uneven_batches_test {

namespace cr = crochet;
using namespace cr::literals;

struct Model {
  static constexpr void define(cr::GraphBuilder& g) {
    auto x = g.placeholder<float>("x", {g.dynamic("batch")});
    auto w = g.variable<float>("w", {}, cr::ones());
    auto loss = g.name("loss", cr::reduce_mean(cr::square(x - w)));
    g.name("train", cr::minimize(loss, cr::SGD{.learning_rate = 0.001}));
  }
};

/// 47 rows in batches of 10: the ranks have 5 and 5 rows, at last 3 and 4.
auto rows() {
  std::vector<float> x;
  for (int i = 0; i < 47; ++i) x.push_back(static_cast<float>(i * i) * 0.01F);
  return cr::data_set(cr::field<"x">(x));
}

using Means = std::vector<double>;

/// Of two epochs on each of `size` ranks.
std::vector<Means> means(int size) {
  std::vector<Means> all(static_cast<std::size_t>(size));
  cr::testing::run_ranks(size, [&](cr::testing::ThreadRank me) {
    Means& mine = all[static_cast<std::size_t>(me.rank())];
    auto data = rows().shuffle(3).batch(10).repeat(2).shard(me);
    auto held_out = rows().batch(10).shard(me);
    cr::MetricChannel metrics;
    const auto keep = [&](const auto& result) { mine.insert(mine.end(), {result["loss"_n], result.weight}); };
    cr::HookChain chain{
        cr::CheckpointInputPipeline{data}, cr::EpochMeans<"loss">{metrics},
        cr::Evaluate{cr::fetches<"loss">, held_out, {.every_steps = 3, .then = keep, .sink = cr::no_lines}},
        cr::InMemoryEvaluator{
            cr::fetches<"loss">, held_out, cr::HookChain{}, {.every_steps = 4, .then = keep, .sink = cr::no_lines}}};
    cr::run(cr::Parallel{cr::Cpu{.threads = 1}, me}.compile<Model>(), chain, [&] { return data.next(); });
    for (const auto& [step, value] : metrics.history("training/loss")) mine.push_back(value);
  });
  return all;
}

TEST(UnevenBatches, HaveTheMeansOfOneMachineOnEveryRank) {
  const Means alone = means(1).front();
  EXPECT_EQ(alone.at(1), 47);
  for (const int size : {2, 3}) {
    const std::vector<Means> found = means(size);
    for (const Means& m : found) {
      EXPECT_EQ(m, found.front());
      for (std::size_t i = 0; i < alone.size(); ++i) EXPECT_NEAR(m.at(i), alone[i], 1e-5 * alone[i]) << i;
    }
  }
}

}  // namespace uneven_batches_test
