// SPDX-License-Identifier: Apache-2.0
// The program in "Replaying a real run" of docs/writing-hooks.md: each of its lines is in this file and is run.
#include <crochet/crochet.hpp>
#include <crochet/executor/step/step_executor.hpp>
#include <crochet/hooks.hpp>
#include <crochet/hooks/io/record_run.hpp>
#include <crochet/testing/io/replay.hpp>

#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

#include "../io/temporary_folder.hpp"

namespace replay_page_test {

namespace cr = crochet;
using namespace cr::literals;

std::string contents(const std::string& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST(ReplayPage, TheProgramRuns) {
  const crochet::test::TemporaryFolder folder;
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(folder.path());
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
  std::filesystem::current_path(before);
  EXPECT_EQ(steps, 40);
  EXPECT_EQ(result.step, 16);  // the loss is lowest in step 11
}

TEST(ReplayPage, EachLineOfItsProgramIsHere) {
  const std::string page = contents(CROCHET_SOURCE_DIR "/docs/writing-hooks.md");
  const std::string here = contents(CROCHET_SOURCE_DIR "/tests/docs/replay_page_test.cpp");
  const std::size_t section = page.find("\n## Replaying a real run");
  ASSERT_NE(section, std::string::npos);
  const std::size_t begin = page.find("```cpp\n", section) + 7;
  std::istringstream program(page.substr(begin, page.find("```", begin) - begin));
  int lines = 0;
  for (std::string line; std::getline(program, line); ++lines) EXPECT_NE(here.find(line), std::string::npos) << line;
  EXPECT_GT(lines, 5);
}

}  // namespace replay_page_test
