// SPDX-License-Identifier: Apache-2.0
// The hooks that end a loop: StopAtStep, EarlyStopping, StopWhen, NanTensor.
#include <crochet/crochet.hpp>
#include <crochet/hooks/early_stopping.hpp>
#include <crochet/hooks/nan_tensor.hpp>
#include <crochet/hooks/stop_at_step.hpp>
#include <crochet/hooks/stop_when.hpp>
#include <crochet/testing.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace stopping_test {

namespace cr = crochet;
using namespace cr::literals;
using cr::value;
using cr::testing::Script;

constexpr float nan_value = std::numeric_limits<float>::quiet_NaN();
constexpr float infinity = std::numeric_limits<float>::infinity();

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

TEST(EarlyStopping, WaitsForPatienceLooksWithoutImprovement) {
  Script run{cr::EarlyStopping<"loss">{.aim = cr::Aim::lowest, .patience = 2, .min_delta = 0.1}};
  for (const float loss : {1.0f, 0.5f, 0.45f, 0.41f}) run.step(value<"loss">(loss));
  EXPECT_TRUE(run.should_stop()) << "0.45 and 0.41 are not better by 0.1";
  EXPECT_EQ(run.stop_reason(), "loss is not lower than 0.5, of step 2, since 2 looks");
  EXPECT_EQ(run.hook().seen.best, 0.5);
  EXPECT_EQ(run.hook().seen.best_step, 2);
}

TEST(EarlyStopping, BetterMeansHigherForAnAccuracy) {
  Script run{cr::EarlyStopping<"accuracy">{.aim = cr::Aim::highest, .patience = 2}};
  for (const double accuracy : {0.5, 0.4, 0.6, 0.6}) run.step(value<"accuracy">(accuracy));
  EXPECT_FALSE(run.should_stop()) << "0.6 began anew";
  run.step(value<"accuracy">(0.6));
  EXPECT_TRUE(run.should_stop());
}

TEST(EarlyStopping, NanIsNeverBetter) {
  Script run{cr::EarlyStopping<"loss">{.aim = cr::Aim::lowest, .patience = 2}};
  run.step(value<"loss">(nan_value));
  EXPECT_FALSE(run.should_stop());
  run.step(value<"loss">(nan_value));
  EXPECT_EQ(run.stop_reason(), "loss was never a number");
}

TEST(EarlyStopping, LooksAtNothingBeforeMinSteps) {
  Script run{cr::EarlyStopping<"loss">{.aim = cr::Aim::lowest, .patience = 1, .min_steps = 3}};
  for (const float loss : {1.0f, 2.0f, 3.0f}) run.step(value<"loss">(loss));
  EXPECT_FALSE(run.should_stop());
  EXPECT_EQ(run.hook().seen.best, 3.0);
  run.step(value<"loss">(3.0f));
  EXPECT_TRUE(run.should_stop());
}

TEST(EarlyStopping, ItsStateComesBack) {
  Script run{cr::EarlyStopping<"loss">{.aim = cr::Aim::lowest, .patience = 3}};
  run.step(value<"loss">(0.5f));
  run.step(value<"loss">(0.6f));
  cr::testing::StateBox box;
  run.hook().save_state(box);

  Script next{cr::EarlyStopping<"loss">{.aim = cr::Aim::lowest, .patience = 3}};
  next.hook().load_state(box);
  next.step(value<"loss">(0.6f));
  EXPECT_FALSE(next.should_stop());
  next.step(value<"loss">(0.6f));
  EXPECT_TRUE(next.should_stop());
}

TEST(EarlyStopping, RefusesSettingsOutOfRange) {
  EXPECT_NE(refusal(cr::EarlyStopping<"loss">{.aim = cr::Aim::lowest, .patience = 0}), "");
  EXPECT_NE(refusal(cr::EarlyStopping<"loss">{.aim = cr::Aim::lowest, .min_delta = -1}), "");
}

TEST(StopWhen, ABoundIsCrossed) {
  Script run{cr::StopWhen<"residual">{.below = 1e-8}};
  run.step(value<"residual">(1e-8));
  run.step(value<"residual">(std::nan("")));
  EXPECT_FALSE(run.should_stop()) << "neither equals nor NaN";
  run.step(value<"residual">(5e-9));
  EXPECT_EQ(run.stop_reason(), "residual = 5e-09 is below 1e-08");
}

TEST(StopWhen, AboveIsTheOtherBound) {
  Script run{cr::StopWhen<"loss">{.below = 0, .above = 100}};
  run.step(value<"loss">(100.0f));
  EXPECT_FALSE(run.should_stop());
  run.step(value<"loss">(101.0f));
  EXPECT_EQ(run.stop_reason(), "loss = 101.0 is above 100.0");
}

TEST(StopWhen, NeedsABound) {
  EXPECT_EQ(refusal(cr::StopWhen<"loss">{}), "crochet: StopWhen<\"loss\">: set below, above or both");
}

template <class T>
std::string nan_error(const cr::NanTensor<"loss">& hook, T loss) {
  Script run{hook};
  try {
    run.step(value<"loss">(loss));
  } catch (const cr::NanLossError& error) {
    return error.what();
  }
  return "";
}

TEST(NanTensor, ThrowsAndSaysWhichOfTheTwoItWas) {
  EXPECT_EQ(nan_error({}, 1.0f), "");
  EXPECT_EQ(nan_error({}, nan_value), "crochet: loss is NaN at step 1");
  EXPECT_EQ(nan_error({}, infinity), "crochet: loss is infinite at step 1");
  EXPECT_EQ(nan_error({}, -HUGE_VAL), "crochet: loss is negative infinite at step 1");
  EXPECT_EQ(nan_error({}, 7), "") << "an integer is a number";
}

TEST(NanTensor, InfinityMayBeAllowed) {
  EXPECT_EQ(nan_error({.allow_infinity = true}, infinity), "");
  EXPECT_NE(nan_error({.allow_infinity = true}, nan_value), "");
}

TEST(NanTensor, LooksAtEveryElement) {
  const std::vector<float> losses{1, nan_value, 2, infinity, nan_value};
  EXPECT_EQ(nan_error({}, cr::TensorView<float, 1>{losses.data(), {5}}),
            "crochet: loss has 2 NaN and 1 infinite of 5 elements, the first at 1 at step 1");
  EXPECT_EQ(nan_error({.allow_infinity = true}, cr::TensorView<float, 1>{losses.data() + 2, {2}}), "");
}

TEST(NanTensor, MayAskToStopInstead) {
  cr::testing::RecordingSink sink;
  Script run{cr::NanTensor<"loss">{.fail_on_nan = false, .sink = sink}};
  run.step(value<"loss">(1.0f));
  run.step(value<"loss">(nan_value));
  EXPECT_EQ(run.stop_reason(), "loss is NaN at step 2");
  EXPECT_EQ(sink.text(), "crochet: loss is NaN at step 2; stopping\n");
  EXPECT_EQ(run.trace(), "begin create b a b a end");
}

TEST(NanTensor, WatchesSeveralValues) {
  Script run{cr::NanTensor<"loss", "norm">{}};
  run.step(value<"loss">(1.0f), value<"norm">(1.0));
  EXPECT_EQ(run.fetched(), "loss norm");
  EXPECT_THROW(run.step(value<"loss">(1.0f), value<"norm">(std::nan(""))), cr::NanLossError);
}

}  // namespace stopping_test
