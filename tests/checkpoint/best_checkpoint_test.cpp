// SPDX-License-Identifier: Apache-2.0
// BestCheckpoint, averaged weights and StopAtCheckpointStep with checkpoints on disk.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <crochet/checkpoint/latest_step.hpp>
#include <crochet/checkpoint/saver.hpp>
#include <crochet/crochet.hpp>
#include <crochet/hooks/best_checkpoint.hpp>
#include <crochet/hooks/checkpoint_saver.hpp>
#include <crochet/hooks/evaluate.hpp>
#include <crochet/hooks/moving_average.hpp>
#include <crochet/hooks/nan_tensor.hpp>
#include <crochet/hooks/stop_at_checkpoint_step.hpp>
#include <crochet/hooks/stop_at_step.hpp>
#include <crochet/hooks/stop_if.hpp>
#include <crochet/testing.hpp>

#include "directory.hpp"

namespace crochet {
namespace best_checkpoint_test {

using namespace literals;

using Paths = std::vector<std::filesystem::path>;
const auto silent = [](std::string_view) {};

/// Publishes the value of each step.
struct Publisher {
  void after_run(auto& run, const auto&) const {
    metrics.publish("accuracy", run.step(), values.at(static_cast<std::size_t>(run.step() - 1)));
  }
  MetricChannel metrics;
  std::vector<double> values;
};

/// Calls a function in end().
template <class F>
struct AtEnd {
  F call;
  void end(auto& /*session*/) { call(); }
};
template <class F>
AtEnd(F) -> AtEnd<F>;

class Best : public ::testing::Test {
 protected:
  Directory dir;
  MetricChannel metrics;
  double w = 0;

  std::filesystem::path folder(const char* name) const { return std::filesystem::path(dir.path()) / name; }
  auto executor() {
    return StepExecutor{[this](auto&) { w += 1; }, variable<"w">(w)};
  }
  auto best(SaverOptions options = {.max_to_keep = 0}) {
    return BestCheckpoint{Saver{folder("best"), std::move(options)},
                          metrics,
                          "accuracy",
                          {.aim = Aim::highest, .keep = 2, .sink = silent}};
  }
};

TEST_F(Best, KeepsTheFilesOfTheBestAndEndsWithThem) {
  auto keeps = best();
  HookChain chain{StopAtStep{.last_step = 5}, Publisher{metrics, {0.5, 0.9, 0.8, 0.1, 0.2}}, keeps,
                  CheckpointSaver{Saver{folder("all")}, {.save_steps = 100, .sink = silent}}, keeps.restore_at_end()};
  run(executor(), chain);
  const Saver saver{folder("best")};
  EXPECT_EQ(saver.last_checkpoints(), (Paths{saver.prefix_of(3), saver.prefix_of(2)})) << "the best is the latest";
  EXPECT_FALSE(std::filesystem::exists(folder("best") / "model.ckpt-1.index")) << "fell out";
  EXPECT_EQ(w, 2) << "as it was at step 2";
  const Saver all{folder("all")};
  EXPECT_EQ(all.latest_checkpoint(), all.prefix_of(5)) << "saved before the best one was put back";
}

TEST_F(Best, ASaverThatWouldRemoveARankedOneIsAnError) {
  for (const int most : {1, 2}) EXPECT_THROW(best({.max_to_keep = most}).begin(), LogicError);
  for (const int most : {0, 3}) EXPECT_NO_THROW(best({.max_to_keep = most}).begin());
  const AveragedSaver averaged{Saver{folder("averaged"), {.max_to_keep = 1}}, WeightAverages{}};
  EXPECT_THROW((BestCheckpoint{averaged, metrics, "accuracy", {.aim = Aim::highest}}.begin()), LogicError);
  auto keeps = best({.max_to_keep = 3});
  HookChain chain{StopAtStep{.last_step = 5}, Publisher{metrics, {0.8, 0.9, 0.1, 0.85, 0.2}}, keeps};
  run(executor(), chain);
  const Saver saver{folder("best")};
  EXPECT_EQ(saver.last_checkpoints(), (Paths{saver.prefix_of(4), saver.prefix_of(2)}));
}

TEST_F(Best, IsWhatAReaderOfTheFolderTakes) {
  for (const auto& values : {std::vector{0.5, 0.9, 0.8, 0.1}, std::vector{0.5, 0.9, 0.95, 0.1},
                             std::vector{0.9, 0.5, 0.6, 0.7}, std::vector{0.9, 0.9, 0.9, 0.9}}) {
    const std::filesystem::path where = dir / ("best" + std::to_string(values[1]) + std::to_string(values[2]));
    const MetricChannel channel;
    const BestCheckpoint keeps{
        Saver{where, {.max_to_keep = 0}}, channel, "accuracy", {.aim = Aim::highest, .keep = 3, .sink = silent}};
    HookChain chain{StopAtStep{.last_step = 4}, Publisher{channel, values}, keeps};
    w = 0;
    run(executor(), chain);
    const auto best_step = std::max_element(values.begin(), values.end()) - values.begin() + 1;
    EXPECT_EQ(keeps.kept().front().step, best_step);
    MonitoredSession reader{executor(), HookChain{}, must_restore(Saver{where, {.say = silent}})};
    EXPECT_EQ(w, static_cast<double>(best_step));
    EXPECT_EQ(reader.step(), best_step);
    reader.close();
  }
}

TEST_F(Best, WhatIsKeptSurvivesARestart) {
  const auto train = [&](std::vector<double> values, std::int64_t until) {
    Saver all{folder("all")};
    HookChain chain{StopAtStep{.last_step = until}, Publisher{metrics, std::move(values)}, best(),
                    CheckpointSaver{all, {.save_steps = 100, .sink = silent}}};
    MonitoredSession session{executor(), chain, restore_latest(all)};
    run_session(session, [](auto& s) {
      while (!s.should_stop()) s.run();
    });
    return session.hooks().template at<2>().kept();
  };
  train({0.5, 0.9}, 2);
  const auto kept = train({0.5, 0.9, 0.1, 0.7}, 4);
  ASSERT_EQ(kept.size(), 2U);
  EXPECT_EQ(kept[0].step, 2);
  EXPECT_EQ(kept[1].step, 4) << "0.7 is better than the 0.5 of before the restart";
}

TEST_F(Best, FewerAreKeptIfAResumedTrainingKeepsFewer) {
  const auto train = [&](std::int64_t keep, std::int64_t until) {
    Saver all{folder("all"), {.say = silent}};
    HookChain chain{StopAtStep{.last_step = until}, Publisher{metrics, {0.5, 0.9, 0.7, 0.1}},
                    BestCheckpoint{Saver{folder("best"), {.max_to_keep = 0, .say = silent}},
                                   metrics,
                                   "accuracy",
                                   {.aim = Aim::highest, .keep = keep, .sink = silent}},
                    CheckpointSaver{all, {.save_steps = 100, .sink = silent}}};
    MonitoredSession session{executor(), chain, restore_latest(all)};
    run_session(session, [](auto& s) {
      while (!s.should_stop()) s.run();
    });
    return session.hooks().template at<2>().kept().size();
  };
  EXPECT_EQ(train(3, 3), 3U);
  EXPECT_EQ(train(1, 4), 1U);
  const Saver saver{folder("best")};
  EXPECT_EQ(saver.last_checkpoints(), Paths{saver.prefix_of(2)});
}

TEST_F(Best, AddedToAResumedTrainingSaysNothingOfWhatWasPublishedBefore) {
  testing::RecordingSink sink;
  StepExecutor step{[](auto& out) { out["value"_n] = 1.0; }, output<double, "value">, variable<"w">(w)};
  const auto evaluate = [&](const MetricChannel& channel) {
    return Evaluate{fetches<"value">,
                    std::vector<RunArgs<>>(1),
                    {.every_steps = 2, .at_end = false, .then = channel, .sink = silent}};
  };
  const Saver all{folder("all"), {.say = silent}};
  const auto saves = [&] { return CheckpointSaver{all, {.save_steps = 100, .sink = silent}}; };
  run(step, HookChain{StopAtStep{.last_step = 3}, evaluate(metrics), saves()});
  const MetricChannel channel;
  const BestCheckpoint added{
      Saver{folder("best"), {.max_to_keep = 0}}, channel, "value", {.aim = Aim::highest, .sink = sink}};
  MonitoredSession session{step, HookChain{StopAtStep{.last_step = 4}, evaluate(channel), added, saves()},
                           restore_latest(all)};
  run_session(session, [](auto& s) {
    while (!s.should_stop()) s.run();
  });
  ASSERT_EQ(sink.lines().size(), 1U);
  EXPECT_TRUE(sink.lines()[0].starts_with("crochet: saved ")) << sink.lines()[0];
  EXPECT_EQ(added.kept().at(0).step, 4);
}

TEST_F(Best, WhatIsKeptMovesWithItsFolder) {
  const auto train = [&](const std::filesystem::path& out, std::vector<double> values, std::int64_t until) {
    Saver all{out / "all"};
    BestCheckpoint keeps{
        Saver{out / "best", {.max_to_keep = 0}}, metrics, "accuracy", {.aim = Aim::highest, .keep = 2, .sink = silent}};
    HookChain chain{StopAtStep{.last_step = until}, Publisher{metrics, std::move(values)}, keeps,
                    CheckpointSaver{all, {.save_steps = 100, .sink = silent}}, keeps.restore_at_end()};
    MonitoredSession session{executor(), chain, restore_latest(all)};
    run_session(session, [](auto& s) {
      while (!s.should_stop()) s.run();
    });
    return keeps.kept();
  };
  train(folder("here"), {0.5, 0.9}, 2);
  std::filesystem::rename(folder("here"), folder("there"));
  const auto kept = train(folder("there"), {0.5, 0.9, 0.1, 0.7}, 4);
  const Saver saver{folder("there") / "best"};
  ASSERT_EQ(kept.size(), 2U);
  EXPECT_EQ(kept[0].path, saver.prefix_of(2)) << "of before the move, where it is now";
  EXPECT_EQ(kept[1].path, saver.prefix_of(4));
  EXPECT_EQ(saver.last_checkpoints(), (Paths{saver.prefix_of(4), saver.prefix_of(2)})) << "step 1 fell out here";
  EXPECT_EQ(w, 2) << "the best one was restored from where it is";
  EXPECT_FALSE(std::filesystem::exists(folder("here")));
}

TEST_F(Best, WhatWasRemovedSinceTheCheckpointIsNotKeptAnyMore) {
  Saver all{folder("all")};
  std::vector<std::string> said;
  const auto sink = [&](std::string_view line) { said.emplace_back(line); };
  const auto train = [&](std::vector<double> values, bool killed) {
    BestCheckpoint keeps{
        Saver{folder("best"), {.max_to_keep = 0}}, metrics, "accuracy", {.aim = Aim::highest, .sink = sink}};
    HookChain chain{Publisher{metrics, std::move(values)}, keeps,
                    CheckpointSaver{all, {.save_steps = 2, .sink = silent}}, keeps.restore_at_end()};
    MonitoredSession session{executor(), chain, restore_latest(all)};
    while (session.step() < 3) session.run();
    killed ? session.fail(nullptr) : session.close();
  };
  train({0.5, 0.4, 0.9}, true);  // the checkpoint of step 2 has step 1 as best; step 3 then removes it
  said.clear();
  train({0.5, 0.4, 0.1}, false);  // different data: step 3 has another value
  const std::string folder_of_best = folder("best").string();
  EXPECT_EQ(said, (std::vector<std::string>{
                      "crochet: BestCheckpoint: " + folder_of_best + "/model.ckpt-1 is not there any more",
                      "crochet: saved " + folder_of_best + "/model.ckpt-3: best accuracy 0.1 (highest) at step 3",
                      "crochet: restored " + folder_of_best + "/model.ckpt-3: best accuracy 0.1 (highest) at step 3"}));
}

TEST_F(Best, ADamagedOneIsReportedAndTheNextBestIsRestored) {
  std::vector<std::string> said;
  const auto train = [&](const std::vector<const char*>& damaged) {
    said.clear();
    w = 0;
    const auto sink = [&](std::string_view line) { said.emplace_back(line); };
    const auto damage = [&] {
      for (const char* file : damaged) Directory::write(folder("best") / file, "nonsense");
    };
    const MetricChannel channel;
    BestCheckpoint keeps{
        Saver{folder("best"), {.max_to_keep = 0}}, channel, "accuracy", {.aim = Aim::highest, .keep = 2, .sink = sink}};
    HookChain chain{StopAtStep{.last_step = 3}, Publisher{channel, {0.5, 0.9, 0.8}}, keeps, AtEnd{damage},
                    keeps.restore_at_end()};
    run(executor(), chain);
  };
  const std::string of_3 = (folder("best") / "model.ckpt-3").string();
  train({"model.ckpt-2.index"});
  EXPECT_EQ(w, 3);
  EXPECT_TRUE(said.at(3).starts_with("crochet: RestoreBest: " + (folder("best") / "model.ckpt-2").string() +
                                     " cannot be restored: "))
      << said.at(3);
  EXPECT_EQ(said.at(4), "crochet: restored " + of_3 + ": accuracy 0.8 (highest but 1) at step 3");
  EXPECT_THROW(train({"model.ckpt-2.index", "model.ckpt-3.index"}), Error);
}

TEST_F(Best, TheAimOfThisProgramRanksWhatAnEarlierOneKept) {
  Saver all{folder("all")};
  const auto train = [&](Aim aim, std::int64_t until) {
    BestCheckpoint keeps{
        Saver{folder("best"), {.max_to_keep = 0}}, metrics, "accuracy", {.aim = aim, .keep = 2, .sink = silent}};
    HookChain chain{StopAtStep{.last_step = until}, Publisher{metrics, {0.5, 0.9, 0.7}}, keeps,
                    CheckpointSaver{all, {.save_steps = 100, .sink = silent}}};
    MonitoredSession session{executor(), chain, restore_latest(all)};
    run_session(session, [](auto& s) {
      while (!s.should_stop()) s.run();
    });
    return std::pair(keeps.kept().at(0).step, keeps.kept().at(1).step);
  };
  EXPECT_EQ(train(Aim::highest, 2), (std::pair<std::int64_t, std::int64_t>{2, 1}));
  EXPECT_EQ(train(Aim::lowest, 3), (std::pair<std::int64_t, std::int64_t>{1, 3}));
}

TEST_F(Best, SavesAverages) {
  const WeightAverages averages;
  Saver saver{folder("averaged"), {.max_to_keep = 0}};
  BestCheckpoint keeps{AveragedSaver{saver, averages}, metrics, "accuracy", {.aim = Aim::highest, .sink = silent}};
  HookChain chain{StopAtStep{.last_step = 2}, MovingAverage{.averages = averages, .decay = 0.5},
                  Publisher{metrics, {0.1, 0.2}}, keeps, keeps.restore_at_end()};
  run(executor(), chain);
  EXPECT_EQ(w, 1.25) << "0.5 * (0.5 * 0 + 0.5 * 1) + 0.5 * 2, saved, and restored at the end";
}

TEST_F(Best, ATrainingContinuesFromSavedAveragesWithTheAverages) {
  const WeightAverages averages;
  Saver saver{folder("averaged"), {.max_to_keep = 0}};
  BestCheckpoint keeps{AveragedSaver{saver, averages}, metrics, "accuracy", {.aim = Aim::highest, .sink = silent}};
  run(executor(), HookChain{StopAtStep{.last_step = 2}, MovingAverage{.averages = averages, .decay = 0.5},
                            Publisher{metrics, {0.1, 0.2}}, keeps});
  const WeightAverages continued;
  MonitoredSession session{executor(), HookChain{MovingAverage{.averages = continued, .decay = 0.5}},
                           restore_latest(Saver{folder("averaged"), {.say = silent}})};
  EXPECT_EQ(w, 1.25) << "the averages are the weights";
  {
    const auto scope = continued.swap_for_a_while();
    EXPECT_EQ(w, 1.25) << "and are the averages, not the weights that were swapped out";
  }
  session.close();
}

TEST_F(Best, TheBestAveragesAreTheLatestOfTheFolder) {
  const WeightAverages averages;
  Saver saver{folder("averaged"), {.max_to_keep = 0}};
  BestCheckpoint keeps{
      AveragedSaver{saver, averages}, metrics, "accuracy", {.aim = Aim::highest, .keep = 2, .sink = silent}};
  run(executor(), HookChain{StopAtStep{.last_step = 2}, MovingAverage{.averages = averages, .decay = 0.5},
                            Publisher{metrics, {0.2, 0.1}}, keeps});
  EXPECT_EQ(saver.latest_checkpoint(), keeps.kept().at(0).path);
}

TEST_F(Best, AveragesSurviveARestart) {
  const auto train = [&](std::int64_t until, const char* name) {
    const WeightAverages averages;
    Saver all{folder(name)};
    HookChain chain{StopAtStep{.last_step = until}, MovingAverage{.averages = averages, .decay = 0.5},
                    CheckpointSaver{all, {.save_steps = 100, .sink = silent}}};
    MonitoredSession session{executor(), std::move(chain), restore_latest(all)};
    run_session(session, [](auto& s) {
      while (!s.should_stop()) s.run();
    });
    const auto scope = averages.swap_for_a_while();
    return w;
  };
  const double whole = train(6, "whole");
  w = 0;
  train(2, "parts");
  w = -1;  // a new program starts with another value
  EXPECT_EQ(train(6, "parts"), whole);
}

/// The chain in docs/hooks.md.
TEST_F(Best, TheHooksThatKeepWorkTogether) {
  const auto batches = std::vector(1, feeds());
  double loss = 8;
  StepExecutor step{[&](auto& out) {
                      if (out.due("loss"_n)) w += 1;  // a training step, not one of an evaluation
                      out["loss"_n] = loss / 2;
                      out["accuracy"_n] = -(w - 3) * (w - 3);
                    },
                    output<double, "loss">, output<double, "accuracy">, variable<"w">(w)};
  const WeightAverages averages;
  BestCheckpoint best{AveragedSaver{Saver{folder("best"), {.max_to_keep = 0}}, averages},
                      metrics,
                      "accuracy",
                      {.aim = Aim::highest, .sink = silent}};
  HookChain chain{
      NanTensor<"loss">{},
      MovingAverage{.averages = averages, .decay = 0.5},
      Evaluate{fetches<"accuracy">,
               batches,
               {.every_steps = 1, .during = averages.swapped(), .then = metrics, .sink = silent}},
      stop_if_no_increase(metrics, "accuracy", 2, {.run_every_steps = 1, .sink = silent}),
      best,
      CheckpointSaver{Saver{folder("all")}, {.save_steps = 100, .sink = silent}},
      best.restore_at_end(),
  };
  const StopReason why = run(step, chain);
  // The averages of w after steps 1 to 6 are 0.5, 1.25, 2.125, 3.0625, 4.03, 5.02. The average of step 4 is closest to
  // 3.
  EXPECT_EQ(why.reason, "accuracy is not higher than -0.00390625, of step 4, for 2 steps");
  EXPECT_EQ(w, 3.0625);
  EXPECT_EQ(Saver{folder("all")}.latest_checkpoint(), folder("all") / "model.ckpt-6");
}

TEST_F(Best, AnotherSessionStopsWhenTheChiefHasSavedTheStep) {
  EXPECT_EQ(latest_checkpoint_step(folder("all")), std::nullopt);
  double chief = 0;
  int naps = 0;
  const auto save_in_a_nap = [&](double) {
    if (++naps != 60) return;  // the chief saves after half a minute
    HookChain chain{StopAtStep{.last_step = 3},
                    CheckpointSaver{Saver{folder("all")}, {.save_steps = 1, .sink = silent}}};
    run(StepExecutor{[&](auto&) { ++chief; }, variable<"w">(chief)}, chain);
  };
  HookChain worker{StopAtCheckpointStep{.checkpoint_step = [&] { return latest_checkpoint_step(folder("all")); },
                                        .last_step = 3,
                                        .sleep = save_in_a_nap}};
  const StopReason why = run(executor(), worker);
  EXPECT_EQ(why.reason, "the checkpoint of step 3 was written");
  EXPECT_EQ(w, 4) << "one more run after the wait";
  EXPECT_EQ(latest_checkpoint_step(folder("all")), 3);
}

}  // namespace best_checkpoint_test
}  // namespace crochet
