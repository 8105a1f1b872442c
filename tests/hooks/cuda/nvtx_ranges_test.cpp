// SPDX-License-Identifier: Apache-2.0
// NvtxRanges with an injected tool (fake_nvtx_tool.cpp): the ranges of runs and steps, and what runs without ranges
// launch.
#include <crochet/crochet.hpp>
#include <crochet/executor/cuda/executor.hpp>
#include <crochet/hooks/cuda/nvtx_ranges.hpp>

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../../cuda/emulation/software_device.hpp"

namespace nvtx_ranges_test {

namespace cr = crochet;
using namespace cr::literals;
using emulation::SoftwareDevice;

/// Two steps: a product, and the reduction of its square.
struct Model {
  static constexpr void define(cr::GraphBuilder& g) {
    const auto x = g.placeholder<float>("x", {4, 4});
    const auto product = g.name("product", matmul(x, x));
    g.name("total", reduce_sum(square(product)));
  }
};

const cr::cuda::Nvtx& tool() {
  setenv("NVTX_INJECTION64_PATH", CROCHET_FAKE_NVTX_TOOL, 1);
  return cr::cuda::nvtx();
}
std::string ranges() {
  void* const library = dlopen(CROCHET_FAKE_NVTX_TOOL, RTLD_NOW);
  if (library == nullptr) return "there is no tool";
  return reinterpret_cast<const char* (*)()>(dlsym(library, "recorded_ranges"))();
}

TEST(Nvtx, TheToolReceivesRangesThatNest) {
  ASSERT_TRUE(tool().attached());
  (void)ranges();
  tool().push("outer");
  tool().push("inner");
  tool().pop();
  tool().pop();
  EXPECT_EQ(ranges(), "outer{inner{}}");
}

TEST(Nvtx, WithoutAToolNothingHappens) {
  const cr::cuda::Nvtx none;
  EXPECT_FALSE(none.attached());
  none.push("range");
  none.pop();
}

template <class... H>
auto session_on(const std::shared_ptr<SoftwareDevice>& device, H... hooks) {
  return cr::MonitoredSession{cr::cuda::Executor<SoftwareDevice, Model>(device), cr::HookChain{std::move(hooks)...}};
}
void step(auto& session) {
  const std::vector<float> x(16, 1);
  (void)session.run(cr::fetches<"total">, cr::feed<"x">(x));
}

TEST(NvtxRanges, HaveTheNamesOfRunsAndSteps) {
  const auto device = std::make_shared<SoftwareDevice>();
  auto session = session_on(device, cr::NvtxRanges{{.every_steps = 1}, tool()});
  (void)ranges();
  step(session);
  EXPECT_EQ(ranges(), "step 1{product{}total{}}");
  EXPECT_EQ(device->counters.launches, 2) << "a step each";
  EXPECT_EQ(device->counters.waits, 1) << "for the total, which the test reads";
  session.close();
}

TEST(NvtxRanges, AreMadeAtTheInterval) {
  const auto device = std::make_shared<SoftwareDevice>();
  auto session = session_on(device, cr::NvtxRanges{{.every_steps = 3}, tool()});
  (void)ranges();
  for (int i = 0; i < 7; ++i) step(session);
  EXPECT_EQ(ranges(), "step 3{product{}total{}}step 6{product{}total{}}");
  EXPECT_EQ(device->counters.launches, 5 * 1 + 2 * 2);
  session.close();
}

TEST(NvtxRanges, WithoutAToolEveryRunIsPlain) {
  const auto device = std::make_shared<SoftwareDevice>();
  const cr::cuda::Nvtx no_tool;
  auto session = session_on(device, cr::NvtxRanges{{.every_steps = 1}, no_tool});
  for (int i = 0; i < 3; ++i) step(session);
  EXPECT_EQ(device->counters.launches, 3);
  session.close();
}

/// A run with the step `product`, with nothing recorded so far.
cr::ProbedRun run_of_one_step() {
  static constexpr std::string_view names[] = {"product"};
  (void)tool();
  (void)ranges();
  cr::ProbedRun run;
  run.node_names = names;
  return run;
}

TEST(NvtxRanges, TheRangeOfARunThatFailedEndsBeforeTheNext) {
  cr::ProbedRun run = run_of_one_step();
  cr::cuda::NvtxProbe probe(tool());
  probe.on_run_begin(run);
  run.step = 1;
  probe.on_run_begin(run);
  probe.on_node_begin<0>(0);
  probe.on_node_end<0>(0);
  probe.on_run_end();
  EXPECT_EQ(ranges(), "step 1{}step 2{product{}}");
}

TEST(NvtxRanges, OfOtherMembersOfATeamAreNotEndedByTheSession) {
  const cr::ProbedRun run = run_of_one_step();
  cr::cuda::NvtxProbe probe(tool());
  probe.on_run_begin(run);
  probe.on_node_begin<0>(0);
  probe.on_node_begin<0>(1);  // on a thread of its own; the run fails
  probe.close();
  EXPECT_EQ(ranges(), "step 1{product{product{}}") << "those of the session's thread";
}

TEST(NvtxRanges, SaysWhatIsWrongWithItsOptions) {
  const cr::cuda::Nvtx no_tool;
  cr::NvtxRanges both{{.every_steps = 1, .every_seconds = 1}, no_tool};
  EXPECT_THROW(both.begin(), cr::LogicError);
  EXPECT_EQ(cr::NvtxRanges{}.cadence(), "every step");
}

}  // namespace nvtx_ranges_test
