// SPDX-License-Identifier: Apache-2.0
// EarlyStopping: stops when a value has not improved for a number of looks.
#include <crochet/crochet.hpp>
#include <crochet/hooks/early_stopping.hpp>
#include <crochet/testing.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

namespace early_stopping_test {

namespace cr = crochet;
using cr::value;
using cr::testing::Script;
constexpr float nan_value = std::numeric_limits<float>::quiet_NaN();

template <class Hook>
std::string refusal(Hook hook) {
  try {
    hook.begin();
  } catch (const cr::LogicError& error) {
    return error.what();
  }
  return "";
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

/// A session that a recovery has created.
struct Recovered {
  std::int64_t at;
  [[nodiscard]] std::int64_t step() const { return at; }
};

TEST(EarlyStopping, OfALostTrainingIsForgotten) {
  for (const float first : {0.1f, nan_value}) {
    cr::Coordinator coordinator;
    Script run{cr::EarlyStopping<"loss">{.aim = cr::Aim::lowest, .patience = 3}};
    for (const float loss : {first, 0.2f, nan_value}) run.step(value<"loss">(loss));
    Recovered session{0};
    run.set_step(0);
    run.hook().after_create_session(session, coordinator);
    for (const float loss : {1.0f, 0.9f, 0.8f}) run.step(value<"loss">(loss));
    EXPECT_FALSE(run.should_stop());
    EXPECT_EQ(run.hook().seen.best, 0.8f);
  }
}

TEST(EarlyStopping, OfACheckpointGoesOnInARecovery) {
  cr::Coordinator coordinator;
  Script run{cr::EarlyStopping<"loss">{.aim = cr::Aim::lowest, .patience = 3}};
  run.step(value<"loss">(0.1f));
  run.step(value<"loss">(0.2f));
  cr::testing::StateBox box;
  run.hook().save_state(box);
  run.step(value<"loss">(0.05f));
  run.hook().load_state(box);
  Recovered session{2};
  run.hook().after_create_session(session, coordinator);
  EXPECT_EQ(run.hook().seen.best, 0.1f);
  EXPECT_EQ(run.hook().seen.since, 1);
}

struct Stops {
  std::string text;
  void request_stop(const std::string& reason, std::string_view hook) { text = std::string(hook) + ": " + reason; }
};

TEST(EarlyStopping, OfAResumedTrainingHasTheSameReason) {
  cr::StepExecutor step{[](auto& out) { out[cr::Name<"loss">{}] = 0.5; }, cr::output<double, "loss">};
  cr::MonitoredSession session{step, cr::HookChain{cr::EarlyStopping<"loss">{.aim = cr::Aim::lowest, .patience = 2}}};
  while (!session.should_stop()) session.run();
  session.close();
  Recovered resumed{session.step()};
  Stops stops;
  session.hooks().get<cr::EarlyStopping<"loss">>().after_create_session(resumed, stops);
  EXPECT_EQ(stops.text, "EarlyStopping<\"loss\">: loss is not lower than 0.5, of step 1, since 2 looks");
  EXPECT_EQ(to_string(session.stop_reason()), stops.text);
}

TEST(EarlyStopping, RefusesSettingsOutOfRange) {
  EXPECT_NE(refusal(cr::EarlyStopping<"loss">{.aim = cr::Aim::lowest, .patience = 0}), "");
  EXPECT_NE(refusal(cr::EarlyStopping<"loss">{.aim = cr::Aim::lowest, .min_delta = -1}), "");
}

}  // namespace early_stopping_test
