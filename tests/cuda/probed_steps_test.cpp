// SPDX-License-Identifier: Apache-2.0
// Probed runs on a device in software: launches, copies, waits and marks as exact numbers, and the times of steps by
// the device's clock. Values and files: tests/hooks/io/on_cpu_dump_test.cpp, tests/hooks/on_cpu_profile_test.cpp.
#include <gtest/gtest.h>
#include <crochet/crochet.hpp>
#include <crochet/executor/cuda/executor.hpp>
#include <crochet/graph/probe/probe.hpp>
#include <crochet/kernels/cuda/step.hpp>
#include <crochet/kernels/cuda/watch.hpp>
#include <crochet/testing/manual_clock.hpp>
#include <crochet/trace/step_recorder.hpp>

#include <array>
#include <cstdint>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "emulation/software_device.hpp"

namespace crochet {
namespace probed_steps_test {

using namespace crochet::literals;
using emulation::Counters;
using emulation::SoftwareDevice;

struct Line {
  static constexpr void define(GraphBuilder& g) {
    const Tensor x = g.placeholder<float>("x", {4, 3});
    const Tensor guess = g.name("guess", dense(x, 2, "line"));
    const Tensor loss = g.name("loss", reduce_mean(square(guess)));
    g.name("train", minimize(loss, SGD{.learning_rate = 0.05}));
  }
};
const std::vector<float> x(12, 0.5F);

/// Watches every node, and takes those of some names.
struct Watcher {
  using watches = WatchEverything;
  std::set<std::string_view> names{};
  ProbedRun run{};
  std::size_t steps = 0;
  int shown = 0;
  std::vector<std::string_view> seen{};  ///< the nodes whose values were offered in the last run
  std::vector<float> last{};

  void on_run_begin(const ProbedRun& begun) {
    run = begun;
    steps = begun.steps.size();
    seen.clear();
  }
  bool takes(std::int32_t node) {
    seen.push_back(run.node_names[static_cast<std::size_t>(node)]);
    return names.contains(seen.back());
  }
  template <std::size_t I>
  void on_node_end(const ProbedTensor& tensor) {
    EXPECT_EQ(run.node_names[I], seen.back());
    ++shown;
    if (tensor.dtype != DType::float32) return;
    const auto* const begin = reinterpret_cast<const float*>(tensor.bytes.data());
    last.assign(begin, begin + tensor.bytes.size() / sizeof(float));
  }
};

/// Observes every run by a probe that the test holds.
template <class P>
struct Observed {
  using probe = P;
  P* observer = nullptr;
  void begin() {}
  P* due_probe() { return observer; }
};

struct Trained {
  std::shared_ptr<SoftwareDevice> device = std::make_shared<SoftwareDevice>(2);
  CudaMode mode = CudaMode::steps_per_launch;

  /// What the device does in the second of two runs.
  template <class... P>
  Counters second_run(P*... probes) {
    MonitoredSession session{cuda::Executor<SoftwareDevice, Line>(device, {.mode = mode}),
                             HookChain{Observed<P>{probes}...}};
    session.run("train"_n, feed<"x">(x));
    session.executor().flush();
    device->counters = {};
    session.run("train"_n, feed<"x">(x));
    session.executor().flush();
    const Counters counted = device->counters;
    session.close();
    return counted;
  }
};

TEST(ProbedSteps, WithoutADueProbeTheRunIsAPlainOne) {
  Watcher* const none = nullptr;
  const Counters c = Trained{}.second_run(none);
  EXPECT_EQ(c.launches, 1);
  EXPECT_EQ(c.downloads, 0);
  EXPECT_EQ(c.waits, 0);
  EXPECT_EQ(c.marks, 0);
}

TEST(ProbedSteps, AWatchedValueIsTheOnlyCopyAndTheOnlyWait) {
  Watcher one{{"guess"}};
  const Counters c = Trained{}.second_run(&one);
  EXPECT_EQ(one.shown, 2) << "once a run";
  EXPECT_EQ(one.last.size(), 8U);
  EXPECT_GE(one.steps, 2U);
  EXPECT_EQ(c.launches, static_cast<int>(one.steps));
  EXPECT_EQ(c.downloads, 1);
  EXPECT_EQ(c.bytes_downloaded, 8 * sizeof(float));
  EXPECT_EQ(c.waits, 1);
  EXPECT_EQ(c.marks, 0);
}

TEST(ProbedSteps, OfTheVariablesOnlyTheWatchedOneIsCopied) {
  Watcher one{{"line/bias"}};
  const Counters c = Trained{}.second_run(&one);
  EXPECT_EQ(one.shown, 2);
  EXPECT_EQ(one.last.size(), 2U);
  EXPECT_EQ(c.downloads, 1);
  EXPECT_EQ(c.bytes_downloaded, 2 * sizeof(float));
}

TEST(ProbedSteps, AnAssignedValueIsCopiedBehindTheLastStep) {
  Watcher one{{"train/line/bias/assign"}};
  const Counters c = Trained{}.second_run(&one);
  EXPECT_EQ(one.shown, 2);
  EXPECT_EQ(c.downloads, 1);
  EXPECT_EQ(c.bytes_downloaded, 2 * sizeof(float));
}

TEST(ProbedSteps, FeedsAreShownWithoutACopy) {
  Watcher one{{"x"}};
  const Counters c = Trained{}.second_run(&one);
  EXPECT_EQ(one.last, x);
  EXPECT_EQ(c.downloads, 0);
  EXPECT_EQ(c.waits, 0);
}

TEST(ProbedSteps, AValueThatNoProbeTakesIsNotCopied) {
  Watcher none;
  const Counters c = Trained{}.second_run(&none);
  EXPECT_EQ(none.shown, 0);
  EXPECT_GT(none.seen.size(), 10U);
  EXPECT_EQ(std::set(none.seen.begin(), none.seen.end()).size(), none.seen.size()) << "once for each value";
  EXPECT_EQ(c.downloads, 0);
  EXPECT_EQ(c.waits, 0);
}

TEST(ProbedSteps, TwoProbesShareACopy) {
  Watcher one{{"guess", "line/matmul"}}, other{{"guess"}};
  EXPECT_EQ(Trained{}.second_run(&one, &other).downloads, 2);
  EXPECT_EQ(one.shown, 4);
  EXPECT_EQ(other.shown, 2);
}

/// Each reading of the device's clock is 10 us after the last one: of marks, and of the launch at each step's begin and
/// at the end. The host's clock stands still.
struct Timed : Trained {
  testing::ManualClock host{100.0};
  trace::StepRecorder recorder{host, [] { return 1'000.0; }};
  double now = 5;
  Counters counters;

  template <class... P>
  trace::RunTrace recorded(P*... others) {
    device->clock = [this] { return now += 10e-6; };
    counters = second_run(&recorder, others...);
    return recorder.take();
  }
};
/// The steps follow each other. From one to the next, and from the origin to the first one, the clock is read
/// `readings` times.
void expect_times(const trace::RunTrace& run, int readings) {
  ASSERT_EQ(run.device_parts.size(), run.steps.size());
  for (std::size_t k = 0; k < run.device_parts.size(); ++k) {
    const trace::StepPart& part = run.device_parts[k];
    EXPECT_EQ(part.step, static_cast<int>(k));
    EXPECT_EQ(part.member, -1);
    EXPECT_NEAR(part.begin, 100.0 + 10e-6 * (1 + readings * static_cast<double>(k)), 2e-9);
    EXPECT_NEAR(part.busy, 10e-6, 2e-9);
    EXPECT_NEAR(part.end - part.begin, part.busy, 1e-12);
  }
  EXPECT_NEAR(trace::seconds_of_steps(run)[0], 10e-6, 2e-9);
}

TEST(ProbedSteps, AProfiledRunIsOneLaunchThatWritesTheTimesOfItsSteps) {
  Timed timed;
  const trace::RunTrace run = timed.recorded();
  ASSERT_GE(run.steps.size(), 2U);
  EXPECT_EQ(timed.counters.launches, 1);
  EXPECT_EQ(timed.counters.marks, 2) << "the origin of the times, and the begin of the launch";
  EXPECT_EQ(timed.counters.downloads, 1);
  EXPECT_EQ(timed.counters.bytes_downloaded, (run.steps.size() + 1) * sizeof(std::uint64_t));
  EXPECT_EQ(timed.counters.waits, 3) << "two for the origin of the times, one at the end";
  EXPECT_EQ(run.device, "a device in software");
  ASSERT_EQ(run.parts.size(), 1U) << "the launch";
  EXPECT_EQ(run.parts[0].step, -1);
  EXPECT_EQ(step_name(run, run.parts[0]), "all_steps");
  expect_times(run, 1);
}

TEST(ProbedSteps, BesideADumpAndInAGraphTheStepsAreLaunchedOneByOne) {
  for (const CudaMode mode : {CudaMode::steps_per_launch, CudaMode::graph}) {
    Watcher dump{{"guess"}}, *const due = mode == CudaMode::graph ? nullptr : &dump;
    Timed timed;
    timed.mode = mode;
    const trace::RunTrace run = timed.recorded(due);
    const auto steps = static_cast<int>(run.steps.size());
    EXPECT_EQ(timed.counters.launches, steps);
    EXPECT_EQ(timed.counters.graphs, 0);
    EXPECT_EQ(timed.counters.marks, 1 + 2 * steps);
    EXPECT_EQ(timed.counters.downloads, due == nullptr ? 0 : 1);
    EXPECT_EQ(run.parts.size(), run.steps.size()) << "the launches";
    expect_times(run, 2);
  }
  Timed timed;
  Watcher* const none = nullptr;
  EXPECT_EQ(timed.recorded(none).parts.size(), 1U) << "the dump is not due";
}

/// A step that counts the threads which have finished it.
struct CountedStep {
  static inline std::uint64_t finished = 0;
  static void run(emulation::FiberBlock&, const cuda::Call&) { ++finished; }
};
TEST(ProbedSteps, ALaunchReadsTheTimeBehindTheBarriersAndBehindTheLastStep) {
  emulation::FiberGrid grid(2);
  grid.timer = [] { return CountedStep::finished; };
  CountedStep::finished = 0;
  const std::array<cuda::TableStep, 2> steps{};
  unsigned char* const bases[]{nullptr};
  std::array<std::uint64_t, 3> times{};
  const cuda::Launch launch{
      .tables = {.steps = steps.data()}, .bases = bases, .end_step = 2, .step_times = times.data()};
  grid.run([&](emulation::FiberBlock& block) {
    for (int run = 0; cuda::begins_run(block, launch, run); ++run) {
      cuda::run_step<CountedStep, false>(block, launch, run, 0);
      cuda::run_step<CountedStep, true>(block, launch, run, 1);
    }
  });
  EXPECT_EQ(times, (std::array<std::uint64_t, 3>{0, 512, 1024})) << "of 512 threads";
}

/// Refuses the run before its first step.
struct Refuses {
  void on_run_begin(const ProbedRun&) const { throw std::runtime_error("no"); }
};
TEST(ProbedSteps, ARunThatIsRefusedIsNeitherCountedNorLaunched) {
  const auto device = std::make_shared<SoftwareDevice>();
  MonitoredSession session{cuda::Executor<SoftwareDevice, Line>(device), HookChain{Observed<Refuses>{}}};
  session.run("train"_n, feed<"x">(x));
  Refuses refuses;
  session.hooks().get<Observed<Refuses>>().observer = &refuses;
  EXPECT_THROW(session.run("train"_n, feed<"x">(x)), std::runtime_error);
  EXPECT_EQ(device->counters.runs, 1);
  EXPECT_EQ(session.executor().global_step(), 1);
}

/// Throws before the launch of all steps, or at the origin of the device's clock.
struct ThrowsBeforeTheLaunch {
  bool at_device_begin = false;
  void on_device_begin() const {
    if (at_device_begin) throw std::runtime_error("no clock");
  }
  void on_launch_begin() const {
    if (!at_device_begin) throw std::runtime_error("no launch");
  }
  template <std::size_t I>
  void on_node_device_times(double, double) {}
};
TEST(ProbedSteps, ARunThatAProbeEndsBeforeItsLaunchIsNotCounted) {
  for (const bool at_device_begin : {false, true}) {
    ThrowsBeforeTheLaunch probe{at_device_begin};
    MonitoredSession session{cuda::Executor<SoftwareDevice, Line>(std::make_shared<SoftwareDevice>(1), {}),
                             HookChain{Observed<ThrowsBeforeTheLaunch>{&probe}}};
    EXPECT_THROW(session.run("train"_n, feed<"x">(x)), std::runtime_error);
    EXPECT_EQ(session.executor().global_step(), 0);
  }
}

}  // namespace probed_steps_test
}  // namespace crochet
