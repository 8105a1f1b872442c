// SPDX-License-Identifier: Apache-2.0
// Stock hooks that a template makes: one chain for several executors. g++ 12 had internal errors in three of them.
#include <crochet/crochet.hpp>
#include <crochet/executor/step/step_executor.hpp>
#include <crochet/hooks.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace in_a_template_test {

namespace cr = crochet;
using namespace cr::literals;

/// One aggregate of each kind of initialization: without, with one and with several designated members.
template <class Executor>
std::vector<std::string> lines_of(Executor executor) {
  std::vector<std::string> lines;
  const cr::Sink keep{[&lines](std::string_view line) { lines.emplace_back(line); }};
  cr::HookChain chain{cr::StopAtStep{.last_step = 4},
                      cr::LoggingTensor<"loss">{.every_steps = 2, .sink = keep},
                      cr::LoggingTensor<"loss", "rate">{.every_steps = 4, .sink = keep},
                      cr::NanTensor<"loss">{},
                      cr::StepCounter{.every_steps = 2, .sink = keep},
                      cr::Progress<"loss">{.total = 4, .columns = 0, .write = keep},
                      cr::ProgressBar{.total = 4, .columns = 0, .write = keep},
                      cr::MemoryMonitor{.every_steps = 2, .sink = keep},
                      cr::EarlyStopping<"loss">{.aim = cr::Aim::lowest, .patience = 5},
                      cr::Snapshot<"rate">{},
                      cr::StopWhen<"loss">{.below = 0},
                      cr::EveryN<2, cr::NanTensor<"rate">>{},
                      cr::FinalOps<"loss">{}};
  cr::MonitoredSession session{executor, chain};
  cr::run_session(session, [](auto& s) {
    while (!s.should_stop()) s.run();
  });
  const auto& values = session.hooks().template get<cr::FinalOps<"loss">>();
  lines.push_back(std::to_string(values["loss"_n].template as<float>()));
  return lines;
}

TEST(HooksInATemplate, AreThoseOfAProgram) {
  float loss = 8;
  const auto lines = lines_of(cr::StepExecutor{[&](auto& out) {
                                                 out["loss"_n] = loss /= 2;
                                                 out["rate"_n] = 0.5F;
                                               },
                                               cr::output<float, "loss">, cr::output<float, "rate">});
  EXPECT_EQ(lines.back(), std::to_string(8.0F / 32)) << "the last run is one more step";
  std::size_t logged = 0;
  for (const std::string& line : lines) logged += line.find("loss = ") != std::string::npos ? 1 : 0;
  EXPECT_GE(logged, 3U);
}

}  // namespace in_a_template_test
