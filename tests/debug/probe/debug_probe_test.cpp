// SPDX-License-Identifier: Apache-2.0
// DebugProbe: the runs that its publisher receives.
#include <crochet/crochet.hpp>
#include <crochet/debug/probe/debug_probe.hpp>
#include <crochet/debug/watch/watch.hpp>
#include <crochet/executor/step/step_executor.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace debug_probe_test {

namespace cr = crochet;
namespace debug = crochet::debug;
using namespace cr::literals;

/// Keeps the beginnings of runs, and takes no tensor.
struct KeepsRuns {
  std::vector<debug::DebugRun> runs{};
  static std::vector<std::string> urls(std::int64_t /*now*/) { return {"grpc://localhost:1"}; }
  void begin_run(const debug::DebugRun& run) { runs.push_back(run); }
  static bool wants(std::string_view /*node*/, std::int32_t /*slot*/, const debug::DebugOp& /*op*/) { return false; }
  static void publish(const debug::DebugEvent& /*event*/) {}
  static void end_run() {}
};
struct Probes {
  using probe = debug::DebugProbe<debug::WatchAll, KeepsRuns>;
  using handles = cr::Phases<cr::phase::before_run>;
  probe all{KeepsRuns{}, {}};
  void before_run(auto& /*run*/) {}
  probe* due_probe() { return &all; }
};

/// A session of a step function with the outputs `loss` of type T and `more`, which runs twice.
template <class T>
void run_twice(cr::HookChain<Probes>& chain) {
  auto step = cr::StepExecutor{[](auto& out) { out["loss"_n] = T(1), out["more"_n] = 1.0F; }, cr::output<T, "loss">,
                               cr::output<float, "more">};
  cr::MonitoredSession<decltype(step)&, cr::HookChain<Probes>&> session{step, chain};
  for (int i = 0; i < 2; ++i) session.run(cr::fetches<"loss">);
  session.close();
}

// A server gets the graph of a new combination, so another model is one, also with the same names.
TEST(DebugProbe, RunsOfAnotherGraphAreAnotherCombination) {
  cr::HookChain chain{Probes{}};
  run_twice<float>(chain);
  run_twice<double>(chain);
  run_twice<float>(chain);
  const std::vector<debug::DebugRun>& runs = chain.get<Probes>().all.publisher().runs;
  ASSERT_EQ(runs.size(), 6U);
  EXPECT_EQ(runs[1].combination, runs[0].combination);
  EXPECT_NE(runs[2].combination, runs[0].combination);
  EXPECT_EQ(runs[3].combination, runs[2].combination);
  EXPECT_EQ(runs[5].combination, runs[0].combination) << "the bytes of a graph do not depend on when it is converted";
  std::vector<std::int64_t> steps;
  for (const debug::DebugRun& run : runs) steps.push_back(run.metadata.executor_step_index);
  EXPECT_EQ(steps, (std::vector<std::int64_t>{0, 1, 0, 1, 2, 3}));
}

TEST(DebugProbe, TheDeviceIsThatOfEachRun) {
  using Probe = Probes::probe;
  static const auto node = [] {
    cr::GraphTable::Node placeholder;
    placeholder.name = "x", placeholder.op = "Placeholder";
    return placeholder;
  }();
  static constexpr std::string_view name = "x";
  const auto devices = [](const debug::DebugProbeOptions& options) {
    Probe probe{KeepsRuns{}, options};
    for (const cr::ProbedDevice& device : {cr::ProbedDevice{}, cr::ProbedDevice{.name = "a GPU", .number = 1},
                                           cr::ProbedDevice{.name = "a GPU", .number = 1}, cr::ProbedDevice{}}) {
      cr::ProbedRun run;
      run.graph = {.nodes = {&node, 1}};
      run.node_names = {&name, 1};
      run.device = device;
      probe.on_run_begin(run);
    }
    return probe.publisher().runs;
  };
  const std::vector<debug::DebugRun> runs = devices({});
  ASSERT_EQ(runs.size(), 4U);
  EXPECT_TRUE(runs[0].device.ends_with("CPU:0")) << runs[0].device;
  EXPECT_TRUE(runs[1].device.ends_with("GPU:1")) << runs[1].device;
  EXPECT_NE(runs[1].combination, runs[0].combination) << "the graph names the device, too";
  EXPECT_EQ(runs[2].combination, runs[1].combination);
  EXPECT_EQ(runs[3].device, runs[0].device);
  for (const debug::DebugRun& run : devices({.device = "mine"})) EXPECT_EQ(run.device, "mine");
}

}  // namespace debug_probe_test
