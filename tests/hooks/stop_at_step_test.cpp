// SPDX-License-Identifier: Apache-2.0
// StopAtStep: stops at a step, or after a number of steps of the session.
#include <crochet/crochet.hpp>
#include <crochet/hooks/stop_at_step.hpp>
#include <crochet/testing.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>

namespace stop_at_step_test {

namespace cr = crochet;
using cr::testing::Script;

template <class Hook>
std::string refusal(Hook hook) {
  try {
    hook.begin();
  } catch (const cr::LogicError& error) {
    return error.what();
  }
  return "";
}

TEST(StopAtStep, StopsAtTheLastStep) {
  Script run{cr::StopAtStep{.last_step = 3}};
  run.step();
  run.step();
  EXPECT_FALSE(run.should_stop());
  run.step();
  EXPECT_TRUE(run.should_stop());
  EXPECT_EQ(run.stop_reason(), "step 3 was reached");
  EXPECT_EQ(run.trace(), "begin create b a b a b a end");
  EXPECT_EQ(run.fetched(), "") << "the step is known without a fetch";
}

TEST(StopAtStep, FollowsTheStepAndNotTheRuns) {
  Script run{cr::StopAtStep{.last_step = 10}};
  run.set_step(5);
  run.step();
  EXPECT_FALSE(run.should_stop());
  run.set_step(8);
  run.step();
  EXPECT_FALSE(run.should_stop()) << "9";
  run.step();
  EXPECT_TRUE(run.should_stop()) << "10";
}

/// A session that starts at a given step.
struct StartsAt {
  [[nodiscard]] std::int64_t step() const { return at; }
  std::int64_t at;
};

TEST(StopAtStep, CountsNumStepsFromTheStartOfTheSession) {
  cr::StopAtStep hook{.num_steps = 10};
  hook.begin();
  cr::Coordinator coordinator;
  StartsAt session{5};
  hook.after_create_session(session, coordinator);
  EXPECT_EQ(hook.target, 15);
  StartsAt recovered{12};
  hook.after_create_session(recovered, coordinator);
  EXPECT_EQ(hook.target, 15) << "recovery does not move it";
  EXPECT_FALSE(coordinator.should_stop());
}

TEST(StopAtStep, CountsAnewInASecondSession) {
  cr::Coordinator coordinator;
  cr::StopAtStep hook{.num_steps = 10};
  for (const std::int64_t start : {0, 100}) {
    StartsAt session{start};
    hook.begin();
    hook.after_create_session(session, coordinator);
    EXPECT_EQ(hook.target, start + 10);
  }
}

TEST(StopAtStep, AsManyStepsAsThereAreNumbersAreNoLimit) {
  constexpr auto most = std::numeric_limits<std::int64_t>::max();
  cr::Coordinator coordinator;
  cr::StopAtStep hook{.num_steps = most};
  StartsAt session{100};
  hook.begin();
  hook.after_create_session(session, coordinator);
  EXPECT_EQ(hook.target, most);
  EXPECT_FALSE(coordinator.should_stop());
}

TEST(StopAtStep, IsNamedAsTheReasonWhenTheStepIsThereAlready) {
  cr::testing::ScriptLog log;
  cr::MonitoredSession session{cr::testing::ScriptedExecutor{log}, cr::HookChain{cr::StopAtStep{.last_step = 0}}};
  EXPECT_TRUE(session.should_stop());
  session.close();
  EXPECT_EQ(to_string(session.stop_reason()), "StopAtStep: step 0 was reached") << "and not the coordinator";
}

TEST(StopAtStep, StopsBeforeTheFirstRunWhenTheStepIsThere) {
  cr::Coordinator coordinator;
  cr::StopAtStep hook{.last_step = 10};
  hook.begin();
  StartsAt session{10};
  hook.after_create_session(session, coordinator);
  EXPECT_TRUE(coordinator.should_stop());
  EXPECT_EQ(coordinator.reason(), "step 10 was reached");
}

TEST(StopAtStep, NeedsExactlyOneSetting) {
  EXPECT_EQ(refusal(cr::StopAtStep{}), "crochet: StopAtStep: set exactly one of last_step and num_steps, not none");
  EXPECT_EQ(refusal(cr::StopAtStep{.last_step = 1, .num_steps = 1}),
            "crochet: StopAtStep: set exactly one of last_step and num_steps, not both");
  EXPECT_EQ(refusal(cr::StopAtStep{.last_step = 0}), "") << "0 is given, too";
  EXPECT_NE(refusal(cr::StopAtStep{.num_steps = -1}), "");
}

}  // namespace stop_at_step_test
