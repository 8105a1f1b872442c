// SPDX-License-Identifier: Apache-2.0
// The program in "Replaying a real run" of docs/writing-hooks.md.
#include <crochet/crochet.hpp>
#include <crochet/executor/step/step_executor.hpp>
#include <crochet/hooks.hpp>
#include <crochet/hooks/io/record_run.hpp>
#include <crochet/testing/io/replay.hpp>

#include <gtest/gtest.h>

#include <cstdio>

#include "../io/current_folder.hpp"
#include "../io/temporary_folder.hpp"

namespace replay_page_test {

namespace cr = crochet;
using namespace cr::literals;

TEST(ReplayPage, TheProgramRuns) {
  const crochet::test::TemporaryFolder folder;
  const crochet::test::CurrentFolder here{folder.path()};
  int steps = 0;
  auto executor = cr::StepExecutor{[&](auto& out) {
                                     ++steps;
                                     out["loss"_n] = steps < 12 ? 1.0f / static_cast<float>(steps) : 1.0f;
                                   },
                                   cr::output<float, "loss">};
  cr::HookChain training{cr::RecordRun{"run.events"}, cr::NanTensor<"loss">{}, cr::StopAtStep{.last_step = 40}};
  cr::run(executor, training);

  cr::HookChain tried{cr::EarlyStopping<"loss">{.aim = cr::Aim::lowest, .patience = 5}};
  const cr::Replayed result = cr::replay(tried, "run.events");
  std::printf("%s at step %lld\n", to_string(result.stop).c_str(), static_cast<long long>(result.step));
  EXPECT_EQ(steps, 40);
  EXPECT_EQ(result.step, 16);  // the loss is lowest in step 11
}

}  // namespace replay_page_test
