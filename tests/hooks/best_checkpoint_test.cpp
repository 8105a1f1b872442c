// SPDX-License-Identifier: Apache-2.0
// BestCheckpoint with a saver that keeps its copies in memory. Files: tests/checkpoint/best_checkpoint_test.cpp.
#include <crochet/crochet.hpp>
#include <crochet/hooks/best_checkpoint.hpp>
#include <crochet/hooks/evaluate.hpp>
#include <crochet/hooks/kit/metric_channel.hpp>
#include <crochet/hooks/moving_average.hpp>
#include <crochet/hooks/stop_at_step.hpp>
#include <crochet/testing.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../refusal.hpp"
#include "growing_model.hpp"
#include "memory_saver.hpp"

namespace best_checkpoint_test {

namespace cr = crochet;
using cr::test::MemorySaver;
using cr::test::SessionOf;
using cr::testing::RecordingSink;
using Lines = std::vector<std::string>;
using Model = cr::test::GrowingModel;

using crochet::test::refusal;

/// Publishes the value for the step of each run. It publishes nothing if the value is NaN.
struct Publisher {
  void after_run(auto& run, const auto&) const {
    const double value = values.at(static_cast<std::size_t>(run.step() - 1));
    if (!std::isnan(value)) metrics.publish("accuracy", run.step() - late, value);
  }
  cr::MetricChannel metrics;
  std::vector<double> values;
  std::int64_t late = 0;
};
constexpr double none = std::numeric_limits<double>::quiet_NaN();

TEST(BestCheckpoint, KeepsTheBestAndRemovesWhatFallsOut) {
  Model model;
  auto executor = model.executor();
  const cr::MetricChannel metrics;
  MemorySaver saver{model};
  RecordingSink sink;
  cr::BestCheckpoint best{saver, metrics, "accuracy", {.aim = cr::Aim::highest, .keep = 2, .sink = sink}};
  cr::HookChain chain{Publisher{metrics, {0.5, none, 0.4, 0.7, 0.6, 0.1, 0.7}}, best, best.restore_at_end()};
  SessionOf<decltype(chain)> session{executor, chain};
  std::string history;
  for (int i = 0; i < 7; ++i) {
    session.run();
    history += saver.paths() + ", ";
  }
  EXPECT_EQ(history, "best-1, best-1, best-1 best-3, best-1 best-4, best-4 best-5, best-4 best-5, best-4 best-7, ");
  const auto& kept = chain.at<1>().kept();
  ASSERT_EQ(kept.size(), 2u);
  EXPECT_EQ(kept[0].step, 4) << "of equal ones the earlier is the better";
  EXPECT_EQ(kept[1].step, 7);
  EXPECT_EQ(sink.lines().front(), "crochet: saved best-1: best accuracy 0.5 (highest) at step 1");
  session.close();
  EXPECT_EQ(model.b, 104) << "as it was at step 4";
  EXPECT_EQ(sink.lines().back(), "crochet: restored best-4: best accuracy 0.7 (highest) at step 4");
}

TEST(BestCheckpoint, LowestAndNaN) {
  Model model;
  auto executor = model.executor();
  const cr::MetricChannel metrics;
  MemorySaver saver{model};
  cr::HookChain chain{Publisher{metrics, {none, 3, 2, 2.5}},
                      cr::BestCheckpoint{saver, metrics, "accuracy", {.aim = cr::Aim::lowest, .sink = [](auto) {}}}};
  metrics.publish("accuracy", 0, none);
  SessionOf<decltype(chain)> session{executor, chain};
  metrics.publish("accuracy", 1, none);
  for (int i = 0; i < 4; ++i) session.run();
  session.close();
  EXPECT_EQ(saver.paths(), "best-3");
  EXPECT_EQ(model.b, 104) << "not restored unless that is asked for";
}

TEST(BestCheckpoint, AMetricOfWeightsThatAreGoneIsReportedOnce) {
  Model model;
  auto executor = model.executor();
  const cr::MetricChannel metrics;
  MemorySaver saver{model};
  RecordingSink sink;
  cr::HookChain chain{Publisher{metrics, {0.5, 0.6, 0.7}, 1},
                      cr::BestCheckpoint{saver, metrics, "accuracy", {.aim = cr::Aim::highest, .sink = sink}}};
  SessionOf<decltype(chain)> session{executor, chain};
  for (int i = 0; i < 3; ++i) session.run();
  session.close();
  EXPECT_EQ(saver.paths(), "");
  EXPECT_EQ(sink.lines(), Lines{"crochet: BestCheckpoint: accuracy of step 0 is seen at step 1, when those weights are "
                                "gone; put the evaluator before this hook"});
}

/// Counts steps, is initialized anew, and is lost once, after 3 runs.
struct LostOnce {
  struct Workspace {};
  static constexpr std::array<std::string_view, 0> fetchable{}, feedable{}, targets{};
  void initialize() { step = 0; }
  [[nodiscard]] std::int64_t global_step() const { return step; }
  template <class D>
  void run(Workspace& /*unused*/) {
    if (++runs == 4) throw cr::AbortedError("lost");
    ++step;
  }
  std::int64_t step = 0;
  int runs = 0;
};
/// Publishes one value after the other.
struct InOrder : cr::PublishesMetrics {
  InOrder(cr::MetricChannel to, std::vector<double> all) : metrics(std::move(to)), values(std::move(all)) {}
  void after_run(auto& run, const auto&) { metrics.publish("accuracy", run.step(), values.at(next++)); }
  cr::MetricChannel metrics;
  std::vector<double> values;
  std::size_t next = 0;
};

TEST(BestCheckpoint, AtAStepOfALostTrainingTheBetterValueIsKept) {
  Model model;
  const cr::MetricChannel metrics;
  MemorySaver saver{model};
  cr::HookChain chain{
      InOrder{metrics, {0.5, 0.6, 0.7, /* anew */ 0.2, 0.8, 0.4, 0.3}},
      cr::BestCheckpoint{saver, metrics, "accuracy", {.aim = cr::Aim::highest, .keep = 3, .sink = [](auto) {}}},
      cr::StopAtStep{.last_step = 4}};
  cr::set_diagnostic_sink([](auto) {});
  cr::MonitoredSession<LostOnce, decltype(chain)&> session{LostOnce{}, chain,
                                                           cr::SessionOptions{.recovery = {.initial_backoff_secs = 0}}};
  while (!session.should_stop()) session.run();
  session.close();
  cr::set_diagnostic_sink({});
  std::string ranks;
  for (const auto& kept : chain.at<1>().kept())
    ranks += kept.path + " " + std::to_string(kept.value).substr(0, 3) + ", ";
  EXPECT_EQ(ranks, "best-2 0.8, best-3 0.7, best-1 0.5, ");
  EXPECT_EQ(saver.paths(), "best-1 best-2 best-3");
}

TEST(BestCheckpoint, SeesAnEvaluationAtTheEndAndSavesAverages) {
  Model model;
  auto executor = model.executor();
  const cr::MetricChannel metrics;
  const cr::WeightAverages averages;
  MemorySaver saver{model};
  cr::HookChain chain{
      cr::MovingAverage{.averages = averages, .decay = 0.5},
      cr::Evaluate{cr::fetches<"sum">,
                   std::vector{cr::feeds()},
                   {.during = averages.swapped(), .then = metrics, .sink = [](auto) {}}},
      cr::BestCheckpoint{
          cr::AveragedSaver{saver, averages}, metrics, "sum", {.aim = cr::Aim::highest, .sink = [](auto) {}}}};
  SessionOf<decltype(chain)> session{executor, chain};
  session.run();
  session.close();
  EXPECT_EQ(saver.paths(), "best-1");
  EXPECT_EQ(saver.value("best-1"), 101.5) << "100.5, and the step that the evaluation made of the averages";
  EXPECT_EQ(model.b, 101);
}  // NOLINT(clang-analyzer-cplusplus.NewDeleteLeaks): LeakSanitizer finds none

TEST(BestCheckpoint, ItsStateIsWhatItKeeps) {
  Model model;
  cr::testing::StateBox box;
  const cr::MetricChannel metrics;
  MemorySaver saver{model};
  auto executor = model.executor();
  cr::HookChain chain{
      Publisher{metrics, {0.5, 0.6}},
      cr::BestCheckpoint{saver, metrics, "accuracy", {.aim = cr::Aim::highest, .keep = 2, .sink = [](auto) {}}}};
  SessionOf<decltype(chain)> session{executor, chain};
  session.run();
  session.run();
  session.close();
  chain.at<1>().save_state(box);
  cr::BestCheckpoint other{saver, metrics, "accuracy", {.aim = cr::Aim::highest}};
  other.begin();
  other.load_state(box);
  ASSERT_EQ(other.kept().size(), 2u);
  EXPECT_EQ(other.kept()[0].path, "best-2");
  EXPECT_EQ(other.kept()[1].value, 0.5);
  RecordingSink sink;
  cr::BestCheckpoint by_loss{saver, metrics, "loss", {.aim = cr::Aim::lowest, .sink = sink}};
  by_loss.begin();
  by_loss.load_state(box);
  EXPECT_TRUE(by_loss.kept().empty());
  EXPECT_EQ(sink.lines(), Lines{"crochet: BestCheckpoint: those of accuracy are not ranked by loss"});
  EXPECT_NE(refusal([&] {
              cr::BestCheckpoint{saver, metrics, "accuracy", {.aim = cr::Aim::highest, .keep = 0}}.begin();
            }),
            "");
}

}  // namespace best_checkpoint_test
