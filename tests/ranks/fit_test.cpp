// SPDX-License-Identifier: Apache-2.0
// fit() on several ranks: the table of one machine, and its folder is written once.
#include <crochet/checkpoint/fit.hpp>
#include <crochet/data.hpp>
#include <crochet/executor/cpu.hpp>
#include <crochet/hooks/best_checkpoint.hpp>
#include <crochet/hooks/evaluate.hpp>
#include <crochet/hooks/stop_at_step.hpp>
#include <crochet/ranks/parallel.hpp>
#include <crochet/testing/thread_ranks.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "../io/temporary_folder.hpp"

namespace ranks_fit_test {

namespace cr = crochet;

struct Model {
  static constexpr void define(cr::GraphBuilder& g) {
    auto x = g.placeholder<float>("x", {g.dynamic("batch"), 3});
    auto y = g.placeholder<std::int32_t>("y", {g.dynamic("batch")});
    auto loss = g.name("loss", sparse_softmax_cross_entropy(dense(x, 3, "out"), y));
    g.name("train", minimize(loss, cr::Adam{.learning_rate = 0.1}));
  }
};

auto points() {
  std::vector<float> x;
  std::vector<std::int32_t> y;
  for (int i = 0; i < 50; ++i) {
    x.insert(x.end(), {static_cast<float>(i) * 0.1F, 1, static_cast<float>(i % 3)});
    y.push_back(i % 3);
  }
  return cr::data_set(cr::field<"x">(x, {3}), cr::field<"y">(y));
}

std::vector<cr::FitHistory> histories(int size, const std::filesystem::path& folder) {
  std::vector<cr::FitHistory> all(static_cast<std::size_t>(size));
  cr::testing::run_ranks(size, [&](cr::testing::ThreadRank me) {
    all[static_cast<std::size_t>(me.rank())] = cr::fit<Model, "loss">(
        cr::Parallel{cr::Cpu{.threads = 1}, me}, points().shuffle(1).batch(10).shard(me),
        {.epochs = 4, .validation = points().batch(10).shard(me), .folder = folder, .bar = false});
  });
  return all;
}

TEST(RankFit, HasTheTableOfOneMachineOnEveryRank) {
  const crochet::test::TemporaryFolder folder;
  const std::string alone = histories(1, folder / "1").front().text();
  EXPECT_NE(alone.find('*'), std::string::npos) << alone;
  for (const cr::FitHistory& history : histories(3, folder / "3")) EXPECT_EQ(history.text(), alone);
  EXPECT_TRUE(std::filesystem::exists(folder / "3" / "best" / "model.ckpt-20.index"));
}

TEST(RankFit, LeavesTheBestWeightsOnEveryRank) {
  const crochet::test::TemporaryFolder folder;
  std::vector<std::vector<float>> weights(3), first(3);
  cr::testing::run_ranks(3, [&](cr::testing::ThreadRank me) {
    const auto trained = [&](std::int64_t epochs, const std::filesystem::path& in) {
      auto executor = cr::Parallel{cr::Cpu{.threads = 1}, me}.compile<Model>();
      cr::fit<"loss">(executor, points().shuffle(1).batch(10).shard(me),
                      {.epochs = epochs, .aim = cr::Aim::highest, .folder = in, .bar = false});
      const auto kernel = executor.variable(cr::Name<"out/kernel">{});
      return std::vector<float>(kernel.begin(), kernel.end());
    };
    const auto rank = static_cast<std::size_t>(me.rank());
    weights[rank] = trained(4, folder / "4");
    first[rank] = trained(1, folder / "1");
  });
  for (const auto& w : weights) EXPECT_EQ(w, first[0]) << "the loss of the first epoch is the highest";
}

/// Whose checkpoints cannot be restored.
struct BrokenSaver {
  std::string save(auto& /*session*/, std::int64_t /*step*/) { return "best"; }
  void restore(auto& /*session*/, const std::string& /*path*/) { throw cr::IoError("no disk"); }
  void remove(const std::string& /*path*/) {}
};
TEST(RankFit, ABestCheckpointThatCannotBeRestoredFailsAllRanks) {
  std::vector<std::string> errors(2);
  cr::testing::run_ranks(2, [&](cr::testing::ThreadRank me) {
    const auto none = [](std::string_view) {};
    cr::MetricChannel metrics;
    cr::BestCheckpoint best{BrokenSaver{}, metrics, "loss", {.aim = cr::Aim::lowest, .sink = none}};
    auto data = points().batch(10).shard(me);
    auto held_out = points().batch(10).shard(me);
    try {
      cr::run(
          cr::Parallel{cr::Cpu{.threads = 1}, me}.compile<Model>(),
          cr::HookChain{cr::StopAtStep{.last_step = 1},
                        cr::Evaluate{cr::fetches<"loss">, held_out, {.every_steps = 1, .then = metrics, .sink = none}},
                        best, best.restore_at_end()},
          [&] { return data.next(); });
    } catch (const cr::Error& error) {
      errors[static_cast<std::size_t>(me.rank())] = error.what();
    }
  });
  EXPECT_EQ(errors[0], "no disk");
  EXPECT_NE(errors[1].find("rank 0"), std::string::npos) << errors[1];
}

}  // namespace ranks_fit_test
