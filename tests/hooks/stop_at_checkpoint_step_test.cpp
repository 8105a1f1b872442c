// SPDX-License-Identifier: Apache-2.0
// StopAtCheckpointStep: stops once the checkpoint of the last step exists.
#include <crochet/crochet.hpp>
#include <crochet/hooks/stop_at_checkpoint_step.hpp>
#include <crochet/hooks/stop_at_step.hpp>
#include <crochet/testing.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>

#include "../base/naps.hpp"
#include "../refusal.hpp"

namespace stop_at_checkpoint_step_test {

namespace cr = crochet;
using cr::test::Naps;
using cr::testing::Script;

using crochet::test::refusal;

TEST(StopAtCheckpointStep, SleepsWhileTheCheckpointIsTooOldAndStopsWhenItHasTheStep) {
  Naps naps;
  std::optional<std::int64_t> saved;
  Script run{cr::StopAtCheckpointStep{
      .checkpoint_step = [&] { return saved; }, .last_step = 3, .wait_seconds = 30, .sleep = naps.sleep()}};
  run.step();
  run.step();
  EXPECT_EQ(naps.total, 0) << "the step is not there";
  run.step();
  EXPECT_EQ(naps.total, 30) << "no checkpoint";
  saved = 2;
  run.step();
  EXPECT_EQ(naps.total, 60) << "an old one";
  EXPECT_FALSE(run.should_stop());
  saved = 3;
  run.step();
  EXPECT_TRUE(run.should_stop());
  EXPECT_EQ(naps.total, 60);
  EXPECT_EQ(run.stop_reason(), "the checkpoint of step 3 was written");
}

TEST(StopAtCheckpointStep, AStopEndsTheSleep) {
  Naps naps;
  Script run{
      cr::StopAtCheckpointStep{.checkpoint_step = [] { return std::nullopt; }, .last_step = 1, .sleep = naps.sleep()}};
  naps.in_each = [&] { run.coordinator().request_stop(); };
  run.step();
  EXPECT_EQ(naps.count, 1);
}

TEST(StopAtCheckpointStep, RefusesHalfASetting) {
  EXPECT_NE(refusal([] { cr::StopAtCheckpointStep{.last_step = 1}.begin(); }), "");
  EXPECT_NE(refusal([] { cr::StopAtCheckpointStep{.checkpoint_step = [] { return 1; }}.begin(); }), "");
  EXPECT_NE(refusal([] {
              cr::StopAtCheckpointStep{.checkpoint_step = [] { return 1; }, .last_step = 1, .wait_seconds = 0}.begin();
            }),
            "");
}

TEST(StopAtCheckpointStep, TheFactoryPicksTheHookByRole) {
  const auto chief = cr::make_stop_at_checkpoint_step<true>([] { return 1; }, 7);
  const auto worker = cr::make_stop_at_checkpoint_step<false>([] { return 1; }, 7, 5);
  static_assert(std::is_same_v<decltype(chief), const cr::StopAtStep>);
  EXPECT_EQ(chief.last_step, 7);
  EXPECT_EQ(worker.last_step, 7);
  EXPECT_EQ(worker.wait_seconds, 5);
}

}  // namespace stop_at_checkpoint_step_test
