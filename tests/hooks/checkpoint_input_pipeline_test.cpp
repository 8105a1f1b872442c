// SPDX-License-Identifier: Apache-2.0
// CheckpointInputPipeline: the data of a session that is created anew.
#include <crochet/crochet.hpp>
#include <crochet/hooks/checkpoint_input_pipeline.hpp>
#include <crochet/ranks/parallel.hpp>
#include <crochet/testing/thread_ranks.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "growing_model.hpp"

namespace checkpoint_input_pipeline_test {

namespace cr = crochet;

struct Position {
  std::int64_t epoch = 0, batch = 0;
};
struct Source {
  Position at;
  [[nodiscard]] Position position() const { return at; }
  void seek(Position to) { at = to; }
};
/// A new session begins at step `back`, except the first.
struct BeginsAt {
  std::int64_t back;
  void create_session(auto& session, auto& /*coordinator*/) const {
    if (session.creation() > 1) session.set_step(back);
  }
};
/// Loses the session once, in its run number `run`.
struct LosesTheSession {
  int run;
  void before_run(auto&) {
    if (--run == 0) throw cr::AbortedError("lost");
  }
};

/// The batches of the attempts at 5 steps. The fourth one loses the session, which begins again at step `back`.
std::vector<std::int64_t> batches_of_attempts(std::int64_t back) {
  cr::test::GrowingModel model;
  auto executor = model.executor();
  Source data{{.epoch = 1, .batch = 10}};
  std::vector<std::int64_t> batches;
  cr::MonitoredSession session{executor, cr::HookChain{cr::CheckpointInputPipeline{data}, LosesTheSession{.run = 4}},
                               BeginsAt{back}, cr::SessionOptions{.recovery = {.initial_backoff_secs = 0}}};
  cr::run_session(session, [&](auto& s) {
    while (s.step() < 5) {
      s.run_step_fn([&](auto& step) {
        batches.push_back(data.at.batch++);
        step.run_with_hooks();
      });
    }
  });
  return batches;
}

TEST(CheckpointInputPipeline, ARecoveryThatBeginsAnewHasTheDataFromTheBeginning) {
  EXPECT_EQ(batches_of_attempts(0), (std::vector<std::int64_t>{10, 11, 12, 13, 10, 11, 12, 13, 14}));
}
TEST(CheckpointInputPipeline, ARecoveryThatGoesOnKeepsThePlaceInTheData) {
  EXPECT_EQ(batches_of_attempts(3), (std::vector<std::int64_t>{10, 11, 12, 13, 14, 15}));
}

/// Runs without a training step.
struct Scores {
  struct Workspace {};
  static constexpr std::array<std::string_view, 1> fetchable{"score"};
  static constexpr std::array<std::string_view, 0> feedable{};
  static constexpr std::array<std::string_view, 1> targets{"score"};
  template <class N>
  using fetched_t = float;
  template <class N>
  using fed_t = float;
  template <class N, class X>
  static constexpr bool accepts_feed = false;

  void initialize() {}
  [[nodiscard]] std::int64_t global_step() const { return 0; }
  template <class D, class... F>
  void run(Workspace&, const F&...) {}
  template <class N>
  float fetch(Workspace&) const {
    return 0;
  }
};
TEST(CheckpointInputPipeline, ARecoveryOfRunsWithoutStepsKeepsThePlaceInTheData) {
  using namespace cr::literals;
  Source data;
  std::vector<std::int64_t> batches;
  cr::MonitoredSession session{Scores{}, cr::HookChain{cr::CheckpointInputPipeline{data}, LosesTheSession{.run = 4}},
                               cr::SessionOptions{.recovery = {.initial_backoff_secs = 0}}};
  cr::run_session(session, [&](auto& s) {
    for (int run = 0; run < 5; ++run) {
      s.run_step_fn([&](auto& step) {
        batches.push_back(data.at.batch++);
        step.run_with_hooks("score"_n);
      });
    }
  });
  EXPECT_EQ(batches, (std::vector<std::int64_t>{0, 1, 2, 3, 4, 5}));
}

TEST(CheckpointInputPipeline, ARecoveryOfRanksThatBeginsAnewHasTheDataFromTheBeginning) {
  std::vector<std::vector<std::int64_t>> batches(2);
  cr::testing::run_ranks(2, [&](cr::testing::ThreadRank me) {
    double x = 0;
    Source data;
    auto& mine = batches[static_cast<std::size_t>(me.rank())];
    cr::MonitoredSession session{
        cr::Parallel{cr::StepExecutor{[&](auto& /*out*/) { ++x; }, cr::variable<"x">(x)}, me},
        cr::HookChain{cr::CheckpointInputPipeline{data}, LosesTheSession{.run = me.rank() == 1 ? 4 : 100}}, BeginsAt{0},
        cr::SessionOptions{.recovery = {.initial_backoff_secs = 0}}};
    cr::run_session(session, [&](auto& s) {
      while (s.step() < 5) {
        s.run_step_fn([&](auto& step) {
          mine.push_back(data.at.batch++);
          step.run_with_hooks();
        });
      }
    });
  });
  EXPECT_EQ(batches[0], (std::vector<std::int64_t>{0, 1, 2, 3, 0, 1, 2, 3, 4}));
  EXPECT_EQ(batches[1], batches[0]);
}

}  // namespace checkpoint_input_pipeline_test
