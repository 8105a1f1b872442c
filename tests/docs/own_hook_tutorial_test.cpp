// SPDX-License-Identifier: Apache-2.0
// The tutorial docs/tutorials/own-hook.md: its hook, its tests and its program.
#include <crochet/crochet.hpp>
#include <crochet/hooks.hpp>
#include <crochet/testing.hpp>

#include <gtest/gtest.h>

#include <cstdio>

#include "page.hpp"

namespace own_hook_tutorial_test {

namespace cr = crochet;

// clang-format off
/// Stops when the loss has been above `factor` times its running mean `limit` times.
struct StopOnSpikes {
  static constexpr auto fetches = cr::fetches<"loss">;
  using handles = cr::Phases<cr::phase::begin, cr::phase::after_run, cr::phase::save_state, cr::phase::load_state>;

  void begin() { mean = 0, spikes = 0; }
  void after_run(auto& run, const auto& values) {
    const double loss = values[cr::Name<"loss">{}];
    if (mean > 0 && loss > factor * mean && ++spikes >= limit) run.request_stop("too many spikes of the loss");
    mean = mean > 0 ? 0.9 * mean + 0.1 * loss : loss;
  }
  void save_state(auto& out) const { out.put("mean", mean), out.put("spikes", spikes); }
  void load_state(auto& in) { in.get("mean", mean), in.get("spikes", spikes); }

  double factor = 3;
  int limit = 2;
  double mean = 0;   // state
  int spikes = 0;
};

int main() {
  double x = 5;
  cr::StepExecutor step{[&](auto& out) {
                          const double rate = x > 1 ? 0.1 : 1.2;   // too large near the minimum
                          x -= rate * 2 * x;
                          out[cr::Name<"loss">{}] = x * x;
                        },
                        cr::output<double, "loss">, cr::variable<"x">(x)};
  const cr::StopReason why = cr::run(step, cr::HookChain{cr::StopAtStep{.last_step = 1000}, StopOnSpikes{.factor = 1.5}});
  std::printf("%s\n", to_string(why).c_str());
  return 0;
}

TEST(StopOnSpikes, StopsAtTheSecondSpike) {
  cr::testing::Script run{StopOnSpikes{.limit = 2}};
  run.step(cr::value<"loss">(1.0));
  run.step(cr::value<"loss">(10.0));   // the first spike: the mean is 1.9 then
  run.step(cr::value<"loss">(1.0));
  EXPECT_FALSE(run.should_stop());
  run.step(cr::value<"loss">(10.0));   // the second one
  EXPECT_EQ(run.stop_reason(), "too many spikes of the loss");
  EXPECT_EQ(run.trace(), "begin create b a b a b a b a end");
}

TEST(StopOnSpikes, ContinuesFromACheckpoint) {
  cr::testing::StateBox box;
  StopOnSpikes{.mean = 1, .spikes = 1}.save_state(box);
  cr::testing::Script run{StopOnSpikes{.limit = 2}};
  run.hook().load_state(box);
  run.step(cr::value<"loss">(10.0));
  EXPECT_TRUE(run.should_stop());
}

TEST(StopOnSpikes, KeepsTheLawsOfHooks) {
  EXPECT_EQ(cr::testing::broken_laws(StopOnSpikes{.factor = 0.5, .limit = 3}, cr::value<"loss">(1.0)), "");
}
// clang-format on

TEST(OwnHookTutorial, ItsProgramStopsAtASpike) {
  testing::internal::CaptureStdout();
  EXPECT_EQ(own_hook_tutorial_test::main(), 0);
  const std::string line = testing::internal::GetCapturedStdout();
  EXPECT_TRUE(line.starts_with("StopOnSpikes: ")) << line;
  EXPECT_NE(crochet::test::text_of("docs/tutorials/own-hook.md").find("\n    " + line), std::string::npos) << line;
}

}  // namespace own_hook_tutorial_test
