// SPDX-License-Identifier: Apache-2.0
// StopWhen: stops when a value is below or above a bound.
#include <crochet/crochet.hpp>
#include <crochet/hooks/stop_when.hpp>
#include <crochet/testing.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace stop_when_test {

namespace cr = crochet;
using cr::value;
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

TEST(StopWhen, ABoundIsCrossed) {
  Script run{cr::StopWhen<"residual">{.below = 1e-8}};
  run.step(value<"residual">(1e-8));
  run.step(value<"residual">(std::nan("")));
  EXPECT_FALSE(run.should_stop()) << "neither equals nor NaN";
  run.step(value<"residual">(5e-9));
  EXPECT_EQ(run.stop_reason(), "residual = 5e-09 is below 1e-08");
}

TEST(StopWhen, BoundsAreNumbersInOrder) {
  const double nan = std::nan("");
  for (const auto bad : {cr::StopWhen<"x">{}, cr::StopWhen<"x">{.below = nan}, cr::StopWhen<"x">{.above = nan},
                         cr::StopWhen<"x">{.below = 0, .above = nan}, cr::StopWhen<"x">{.below = 2, .above = 1}}) {
    EXPECT_NE(refusal(bad), "");
  }
  EXPECT_EQ(refusal(cr::StopWhen<"x">{.below = 1, .above = 1}), "");
}

TEST(StopWhen, AboveIsTheOtherBound) {
  Script run{cr::StopWhen<"loss">{.below = 0, .above = 100}};
  run.step(value<"loss">(100.0f));
  EXPECT_FALSE(run.should_stop());
  run.step(value<"loss">(101.0f));
  EXPECT_EQ(run.stop_reason(), "loss = 101.0 is above 100.0");
}

struct Stops {
  std::string text;
  void request_stop(const std::string& reason, std::string_view hook) { text = std::string(hook) + ": " + reason; }
};
/// Why a session that begins with the state of a hook stops before its first run.
template <class Hook>
std::string stop_of_resumed(const Hook& saved, Hook hook) {
  cr::testing::StateBox box;
  saved.save_state(box);
  hook.begin();
  hook.load_state(box);
  Stops stops;
  int session = 0;
  hook.after_create_session(session, stops);
  return stops.text;
}

TEST(StopWhen, ATrainingThatItHasEndedMakesNoFurtherStep) {
  Script run{cr::StopWhen<"residual">{.below = 1e-3}};
  run.step(value<"residual">(0.5F));
  EXPECT_EQ(stop_of_resumed(run.hook(), cr::StopWhen<"residual">{.below = 1e-3}), "");
  run.step(value<"residual">(5e-4F));
  EXPECT_EQ(stop_of_resumed(run.hook(), cr::StopWhen<"residual">{.below = 1e-3}),
            "StopWhen<\"residual\">: residual = 0.0005 is below 0.001");
  EXPECT_EQ(stop_of_resumed(run.hook(), cr::StopWhen<"residual">{.below = 1e-4}), "")
      << "with another bound it goes on";
}

/// Checks the loss on its own, as a device does: in step k it is -k, and what is found is reported in `end` only.
struct LateExecutor {
  struct Workspace {};
  static constexpr std::array<std::string_view, 1> fetchable{"loss"}, targets{"train"};
  static constexpr std::array<std::string_view, 0> feedable{};
  template <class N>
  using fetched_t = float;
  template <class N, class X>
  static constexpr bool accepts_feed = false;

  int runs = 0, reads = 0;
  std::optional<int> crossed{};

  template <class D>
  void run(Workspace&) {
    ++runs;
  }
  template <class N>
  float fetch(Workspace&) {
    ++reads;
    return static_cast<float>(-runs);
  }
  template <class N>
  std::optional<cr::Violation<float>> violation(Workspace&, const cr::BoundsRule& rule) {
    if (!crossed && -runs < *rule.lowest) crossed = runs;
    return {};
  }
  template <class N>
  std::optional<cr::Violation<float>> finish_watch(Workspace&, const cr::BoundsRule&) {
    if (!crossed) return {};
    return cr::Violation<float>{static_cast<float>(-*crossed), *crossed, runs - *crossed};
  }
  void settle() { step = crossed.value_or(runs); }
  static bool skipped(Workspace&) { return false; }
  std::int64_t global_step() const { return step; }
  std::int64_t step = 0;
};
std::string reason_at_the_end(int runs, std::string_view callers_reason) {
  cr::MonitoredSession session{LateExecutor{}, cr::HookChain{cr::StopWhen<"loss">{.below = -2.5}}};
  for (int i = 0; i < runs; ++i) session.run(cr::targets<"train">);
  if (!callers_reason.empty()) session.request_stop(callers_reason);
  session.close();
  EXPECT_EQ(session.executor().reads, 0);
  return to_string(session.stop_reason()) + " at " + std::to_string(session.stop_reason().step);
}
TEST(StopWhen, AnExecutorThatChecksTheValueMayReportItAtTheEnd) {
  EXPECT_EQ(reason_at_the_end(2, "enough"), "the caller: enough at 2");
  EXPECT_EQ(reason_at_the_end(5, "enough"), "StopWhen<\"loss\">: loss = -3.0 is below -2.5 at 3");
  EXPECT_EQ(reason_at_the_end(5, ""), "StopWhen<\"loss\">: loss = -3.0 is below -2.5 at 3");
  EXPECT_EQ(reason_at_the_end(3, "enough"), "the caller: enough at 3") << "of the same run";
}

TEST(StopWhen, NeedsABound) {
  EXPECT_EQ(refusal(cr::StopWhen<"loss">{}), "crochet: StopWhen<\"loss\">: set below, above or both");
}

}  // namespace stop_when_test
