// SPDX-License-Identifier: Apache-2.0
// The stock hooks satisfy the laws of hooks.
#include <crochet/crochet.hpp>
#include <crochet/hooks.hpp>
#include <crochet/testing.hpp>
#include <crochet/testing/counting_new.hpp>

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "hook_laws.hpp"

namespace {

namespace cr = crochet;
using cr::testing::broken_laws;
using cr::testing::PhaseSpy;
using cr::testing::series;

const auto loss = cr::value<"loss">(1.0f);
const auto falling = series<"loss">(5.0f, 4.0f, 3.0f, 2.0f);

class Laws : public cr::test::HookLaws {};

TEST_F(Laws, ThatStop) {
  EXPECT_EQ(broken_laws(cr::StopAtStep{.last_step = 7}, all), "");
  EXPECT_EQ(broken_laws(cr::StopWhen<"loss">{.below = 2.5}, all, falling), "");
  EXPECT_EQ(broken_laws(cr::EarlyStopping<"loss">{.aim = cr::Aim::lowest, .patience = 5}, all, falling), "");
  EXPECT_EQ(broken_laws(cr::NanTensor<"loss">{.sink = sink}, all, falling), "");
  const auto broken = series<"loss">(1.0f, 1.0f, 1.0f, std::numeric_limits<float>::quiet_NaN());
  EXPECT_EQ(broken_laws(cr::NanTensor<"loss">{.fail_on_nan = false, .sink = sink}, all, broken), "");
  const std::string by_throwing = broken_laws(cr::NanTensor<"loss">{.sink = sink}, all, broken);
  EXPECT_TRUE(by_throwing.starts_with("events: step 3: fetched loss read loss*1 threw")) << by_throwing;
}

TEST_F(Laws, ThatStopSoManyStepsAfterTheStart) { EXPECT_EQ(broken_laws(cr::StopAtStep{.num_steps = 7}, all), ""); }

TEST_F(Laws, ThatSpeak) {
  EXPECT_EQ(broken_laws(cr::LoggingTensor<"loss">{.every_steps = 3, .sink = sink, .clock = clock}, all, falling), "");
  EXPECT_EQ(broken_laws(cr::LoggingTensor<"loss">{.every_seconds = 2, .at_end = true, .sink = sink, .clock = clock},
                        all, falling),
            "");
  EXPECT_EQ(broken_laws(cr::StepCounter{.every_steps = 5, .sink = sink, .clock = clock}, all), "");
  EXPECT_EQ(broken_laws(cr::StepCounter{.every_seconds = 2, .sink = sink, .clock = clock}, all), "");
  EXPECT_EQ(broken_laws(cr::LearningRateMonitor<"loss">{.every_steps = 2, .sink = sink, .clock = clock}, all, falling),
            "");
  EXPECT_EQ(broken_laws(cr::Progress<"loss">{.columns = 0, .write = sink, .clock = clock}, all, falling), "");
}

TEST_F(Laws, ThatFeedOrLookAside) {
  EXPECT_EQ(broken_laws(cr::FeedFn{[] { return cr::feed<"rate">(0.5); }}, all, cr::placeholder<double, "rate">), "");
  EXPECT_EQ(broken_laws(cr::FinalOps<"loss">{.sink = sink}, all, falling), "");
  const auto batches = std::vector(3, cr::feeds(cr::feed<"rate">(0.5)));
  EXPECT_EQ(broken_laws(cr::Evaluate{cr::fetches<"loss">, batches, {.every_steps = 4, .sink = sink, .clock = clock}},
                        all, falling, cr::placeholder<double, "rate">),
            "");
}

constexpr auto odd = [](auto& run) { return run.step() % 2 == 1; };

TEST_F(Laws, Decorators) {
  EXPECT_EQ(broken_laws(cr::EveryN<3, PhaseSpy>{}, all), "");
  EXPECT_EQ(broken_laws(cr::EverySeconds<2, PhaseSpy>{{}, {.clock = clock}}, all), "");
  EXPECT_EQ(broken_laws(cr::OnlyIn<"train", PhaseSpy>{}, all, cr::targets<"train">), "");
  EXPECT_EQ(broken_laws(cr::When<odd, PhaseSpy>{}, all), "");
  EXPECT_EQ(broken_laws(cr::Isolated<PhaseSpy>{{}, {.sink = sink}}, all), "");
  EXPECT_EQ(broken_laws(cr::Timed<PhaseSpy>{{}, {.sink = sink, .clock = clock}}, all), "");
}

TEST_F(Laws, DecoratedOnes) {
  using Logs = cr::LoggingTensor<"loss">;
  EXPECT_EQ(broken_laws(cr::EveryN<3, Logs>{{.every_steps = 2, .sink = sink, .clock = clock}}, all, falling), "");
  EXPECT_EQ(broken_laws(cr::OnlyIn<"train", Logs>{{.every_steps = 2, .sink = sink, .clock = clock}}, all, falling,
                        cr::targets<"train">),
            "");
}

TEST_F(Laws, ARhythmGoesOnWhereItWas) {
  using Looks = cr::EveryN<3, cr::EarlyStopping<"loss">>;
  using Slow = cr::EverySeconds<3, cr::EarlyStopping<"loss">>;
  for (all.interrupt_after = 0; *all.interrupt_after < 9; ++*all.interrupt_after) {
    EXPECT_EQ(broken_laws(Looks{{.aim = cr::Aim::lowest, .patience = 3}}, all, loss), "") << *all.interrupt_after;
    EXPECT_EQ(broken_laws(Slow{{.aim = cr::Aim::lowest, .patience = 3}, {.clock = clock}}, all, loss), "")
        << *all.interrupt_after;
  }
}

}  // namespace
