// SPDX-License-Identifier: Apache-2.0
// The stock hooks together, in real sessions, written as in the documentation.
#include <crochet/crochet.hpp>
#include <crochet/hooks.hpp>
#include <crochet/testing.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace programs_test {

namespace cr = crochet;
using namespace cr::literals;
using cr::testing::ManualClock;
using cr::testing::RecordingSink;

/// Halves the residual in each step. A step takes a second.
struct Solver {
  ManualClock clock{};
  double residual = 1;
  std::vector<double> field = std::vector<double>(4, 20.0);
  int fields_asked = 0;

  auto step() {
    return cr::StepExecutor{[this](auto& out) {
                              clock.advance(1);
                              residual /= 2;
                              out["residual"_n] = residual;
                              if (!out.due("temperature"_n)) return;
                              ++fields_asked;
                              out["temperature"_n] = std::span<const double>(field);
                            },
                            cr::output<double, "residual">, cr::output<std::span<const double>, "temperature">};
  }
};

TEST(Programs, ALoopThatHasNothingToDoWithGraphs) {
  const auto folder = std::filesystem::path(::testing::TempDir()) / "crochet_programs_test";
  std::filesystem::remove_all(folder);
  Solver solver;
  RecordingSink log;
  RecordingSink bar;
  const cr::StopReason why = cr::run(
      solver.step(),
      cr::HookChain{cr::StopWhen<"residual">{.below = 1e-8},
                    cr::EverySeconds<10, cr::Snapshot<"temperature">>{{folder}, {.clock = solver.clock}},
                    cr::StepCounter{.every_seconds = 10, .sink = log, .clock = solver.clock},
                    cr::NanTensor<"residual">{}, cr::ProgressBar{.columns = 0, .write = bar, .clock = solver.clock}});
  EXPECT_EQ(why.hook, "StopWhen<\"residual\">");
  EXPECT_EQ(solver.clock(), 27) << "2^-27 is the first below 1e-8";
  EXPECT_EQ(solver.fields_asked, 3) << "at 0, 11 and 21 seconds";
  EXPECT_EQ(log.text(), "step 10: global_step/sec = 1\nstep 20: global_step/sec = 1\n");
  EXPECT_EQ(bar.text(), "27 1.0 steps/s\n\n");
  EXPECT_TRUE(std::filesystem::exists(folder / "temperature-1.npy"));
  std::filesystem::remove_all(folder);
}

TEST(Programs, TwoOptimizersWithHooksOfTheirOwn) {
  cr::testing::ScriptLog script;
  RecordingSink d_log, g_log;
  cr::HookChain chain{cr::OnlyIn<"discriminator", cr::LoggingTensor<"d_loss">>{{.every_steps = 2, .sink = d_log}},
                      cr::OnlyIn<"generator", cr::LoggingTensor<"g_loss">>{{.every_steps = 1, .sink = g_log}},
                      cr::StopAtStep{.last_step = 6}};
  cr::MonitoredSession session{
      cr::testing::ScriptedExecutor{script, cr::value<"d_loss">(0.5f), cr::value<"g_loss">(0.25f),
                                    cr::targets<"discriminator", "generator">},
      chain};
  cr::run_session(session, [](auto& s) {
    while (!s.should_stop()) {
      for (int i = 0; i < 2; ++i) s.run("discriminator"_n);
      s.run("generator"_n);
    }
  });
  std::string fetched;
  for (const auto& run : script.runs) fetched += run.targets.substr(0, 1) + ":" + run.fetched + " ";
  EXPECT_EQ(fetched, "d: d:d_loss g:g_loss d:d_loss d: g:g_loss ") << "d in steps 2 and 4";
  EXPECT_EQ(d_log.lines().size(), 2U);
  EXPECT_EQ(g_log.lines().size(), 2U);
  EXPECT_EQ(session.stop_reason().hook, "StopAtStep");
}

TEST(Programs, ASessionThatIsAlreadyThereRunsNoStep) {
  Solver solver;
  int runs = 0;
  cr::MonitoredSession session{solver.step(), cr::HookChain{cr::StopAtStep{.last_step = 0}}};
  cr::run_session(session, [&](auto& s) {
    for (; !s.should_stop(); ++runs) s.run();
  });
  EXPECT_EQ(runs, 0);
}

TEST(Programs, ValuesAfterTheEnd) {
  Solver solver;
  cr::MonitoredSession session{solver.step(),
                               cr::HookChain{cr::FinalOps<"temperature">{}, cr::StopAtStep{.num_steps = 2}}};
  cr::run_session(session, [](auto& s) {
    while (!s.should_stop()) s.run();
  });
  const auto& kept = session.hooks().get<cr::FinalOps<"temperature">>()["temperature"_n];
  EXPECT_EQ(kept.elements<double>().size(), 4U);
}

}  // namespace programs_test
