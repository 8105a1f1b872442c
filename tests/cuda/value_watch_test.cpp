// SPDX-License-Identifier: Apache-2.0
// The watch of a device for NaN and infinity, and NanTensor on it: launches and waits as exact numbers, the step that
// is reported, and the variables behind it.
#include <gtest/gtest.h>
#include <crochet/crochet.hpp>
#include <crochet/executor/cpu.hpp>
#include <crochet/executor/cuda/executor.hpp>
#include <crochet/graph/probe/probe.hpp>
#include <crochet/hooks.hpp>
#include <crochet/testing/recording_sink.hpp>

#include <cmath>
#include <limits>
#include <vector>

#include "emulation/software_device.hpp"

namespace crochet {
namespace value_watch_test {

using namespace crochet::literals;
using emulation::SoftwareDevice;

constexpr float nan_value = std::numeric_limits<float>::quiet_NaN(), infinity = std::numeric_limits<float>::infinity();

/// Adds x to w in each step; the loss is the sum of both.
struct Sum {
  static constexpr void define(GraphBuilder& g) {
    const Tensor x = g.placeholder<float>("x", {3});
    const Tensor w = g.variable<float>("w", {3}, zeros());
    const Tensor both = g.name("both", w + x);
    const Tensor loss = g.name("loss", reduce_sum(both));
    g.name("train", minimize(loss, SGD{.learning_rate = -1.0}));
  }
};
using Gpu = cuda::Executor<SoftwareDevice, Sum>;

struct Outcome {
  emulation::Counters counters;
  std::string error, lines;
  std::int64_t step = 0;
  std::vector<float> w;
  int runs = 0;  ///< of the loop
};

/// A session of 40 steps in launches of 8, in which the feed of step `bad_step` (from 1) is `bad`.
template <class... H>
Outcome trained(int bad_step, float bad, H... hooks) {
  const auto device = std::make_shared<SoftwareDevice>(2);
  Outcome outcome;
  MonitoredSession session{Gpu(device, {.steps_per_launch = 8}),
                           HookChain{std::move(hooks)..., StopAtStep{.last_step = 40}}};
  device->counters = {};
  try {
    run_session(session, [&](auto& s) {
      while (!s.should_stop()) {
        const float x = ++outcome.runs == bad_step ? bad : 0;
        s.run("train"_n, feed<"x">(std::vector<float>{0, x, 0}));
      }
    });
  } catch (const NanLossError& error) {
    outcome.error = error.what();
  }
  outcome.counters = device->counters;
  outcome.step = session.executor().global_step();
  const auto w = session.executor().variable("w"_n);
  outcome.w.assign(w.begin(), w.end());
  return outcome;
}

TEST(ValueWatch, WithoutNanItCostsNoLaunchAndReadsAFlagALaunch) {
  const Outcome o = trained(0, 0, NanTensor<"loss">{});
  EXPECT_EQ(o.error, "");
  EXPECT_EQ(o.counters.launches, 5);
  EXPECT_EQ(o.counters.runs, 40);
  EXPECT_EQ(o.counters.downloads, 0);
  // The flags of four launches behind the next one each, those of the last one at the end, and the close.
  EXPECT_EQ(o.counters.waits, 6);
  EXPECT_EQ(o.step, 40);
  EXPECT_EQ(o.w, std::vector<float>({40, 40, 40}));
}

TEST(ValueWatch, TheFailingStepIsReportedAndItsVariablesStay) {
  for (const int step : {1, 7, 8, 9, 13, 16}) {
    const Outcome o = trained(step, nan_value, NanTensor<"loss">{});
    EXPECT_EQ(o.error, "crochet: loss is NaN at step " + std::to_string(step));
    EXPECT_EQ(o.step, step);
    EXPECT_EQ(o.w, std::vector<float>(3, static_cast<float>(step))) << "runs behind the failing one were executed";
    EXPECT_EQ(o.runs, (step + 7) / 8 * 8 + 8) << "the run that filled the next launch";
  }
}

TEST(ValueWatch, TheLastLaunchIsReportedAtTheEnd) {
  const Outcome o = trained(37, infinity, NanTensor<"loss">{});
  EXPECT_EQ(o.error, "crochet: loss is infinite at step 37");
  EXPECT_EQ(o.step, 37);
}

TEST(ValueWatch, InfinityMayBeAllowedAndTensorsAreWatched) {
  EXPECT_EQ(trained(5, infinity, NanTensor<"loss">{.allow_infinity = true}).error, "");
  EXPECT_EQ(trained(5, nan_value, NanTensor<"loss">{.allow_infinity = true}).error, "crochet: loss is NaN at step 5");
  EXPECT_EQ(trained(5, -infinity, NanTensor<"both">{}).error,
            "crochet: both has 0 NaN and 1 infinite of 3 elements, the first at 1 at step 5");
}

TEST(ValueWatch, AStopEndsTheSession) {
  testing::RecordingSink sink;
  const Outcome o = trained(11, nan_value, NanTensor<"loss", "both">{.fail_on_nan = false, .sink = sink});
  EXPECT_EQ(o.error, "");
  EXPECT_EQ(sink.text(),
            "crochet: loss is NaN at step 11; stopping\n"
            "crochet: both has 1 NaN and 0 infinite of 3 elements, the first at 1 at step 11; stopping\n");
  EXPECT_EQ(o.step, 11);
  EXPECT_EQ(o.runs, 24);
}

/// Reads the loss in every run.
struct Reader {
  static constexpr auto fetches = crochet::fetches<"loss">;
  void after_run(auto&, const auto& values) { static_cast<void>(values["loss"_n]); }
};
TEST(ValueWatch, AReaderOfTheRunMakesItKnownAtOnce) {
  const Outcome o = trained(11, nan_value, Reader{}, NanTensor<"loss">{});
  EXPECT_EQ(o.error, "crochet: loss is NaN at step 11");
  EXPECT_EQ(o.runs, 11);
}

/// Reads all variables in one step, as a checkpoint does.
struct Saver {
  int at = 0;
  bool* read = nullptr;
  void after_run(auto& run, const auto&) {
    if (run.step() != at) return;
    const auto& executor = run.session().executor();
    executor.for_each_variable([&](auto&&...) { *read = true; });
  }
};
TEST(ValueWatch, NoCheckpointIsMadeOfAFailedRun) {
  bool read = false;
  const Outcome o = trained(11, nan_value, NanTensor<"loss">{}, Saver{13, &read});
  EXPECT_EQ(o.error, "crochet: loss is not finite at step 11");
  EXPECT_FALSE(read);
  EXPECT_EQ(o.runs, 13);
  trained(11, nan_value, NanTensor<"loss">{.fail_on_nan = false, .sink = testing::RecordingSink{}}, Saver{13, &read});
  EXPECT_TRUE(read);
}

TEST(ValueWatch, AHookThatReadsInSomeRunsWaitsInThese) {
  const Outcome o = trained(20, nan_value, EveryN<10, NanTensor<"loss">>{});
  EXPECT_EQ(o.runs, o.step);
  EXPECT_NE(o.error, "");
}

TEST(ValueWatch, WithOneRunALaunchTheReportComesARunLater) {
  for (const int step : {1, 3}) {
    const auto device = std::make_shared<SoftwareDevice>(1);
    MonitoredSession session{Gpu(device, {.steps_per_launch = 1}), HookChain{NanTensor<"loss">{}}};
    device->counters = {};
    const auto run = [&](int k) {
      session.run("train"_n, feed<"x">(std::vector<float>{0, k == step ? nan_value : 0, 0}));
    };
    int k = 1;
    try {
      for (; k < 9; ++k) run(k);
      ADD_FAILURE();
    } catch (const NanLossError& error) {
      EXPECT_EQ(error.what(), "crochet: loss is NaN at step " + std::to_string(step));
    }
    EXPECT_EQ(k, step == 1 ? 1 : step + 1);  // the first run is launched before the hook can watch it
    EXPECT_EQ(session.step(), step);
    session.close();
  }
}

TEST(ValueWatch, RunsWithoutHooksAreNotWatched) {
  const auto device = std::make_shared<SoftwareDevice>(1);
  MonitoredSession session{Gpu(device, {.steps_per_launch = 4}), HookChain{NanTensor<"loss">{}}};
  const std::vector<float> good(3), bad(3, nan_value);
  session.run("train"_n, feed<"x">(good));
  EXPECT_TRUE(std::isnan(session.run(no_hooks, fetches<"loss">, feed<"x">(bad))["loss"_n]));
  session.run("train"_n, feed<"x">(good));
  session.close();
  EXPECT_EQ(session.step(), 2);
}

TEST(ValueWatch, TheSessionGoesOnBehindAnErrorThatIsCaught) {
  const auto device = std::make_shared<SoftwareDevice>(1);
  MonitoredSession session{Gpu(device, {.steps_per_launch = 4}), HookChain{NanTensor<"loss">{}}};
  const auto run = [&](float x) { session.run("train"_n, feed<"x">(std::vector<float>{0, x, 0})); };
  for (int step = 1; step < 8; ++step) run(step == 2 ? nan_value : 0);
  EXPECT_THROW(run(0), NanLossError);
  EXPECT_EQ(session.step(), 2);
  for (int step = 0; step < 5; ++step) run(0);
  EXPECT_EQ(session.step(), 7);
  EXPECT_EQ(session.executor().variable("w"_n)[0], 7);
  session.close();
}

/// As Sum, with a batch. Both names are watched; the loss alone is infinite where both are large.
struct Batches {
  static constexpr void define(GraphBuilder& g) {
    const Tensor x = g.placeholder<float>("x", {g.dynamic("batch"), 3});
    const Tensor w = g.variable<float>("w", {3}, zeros());
    const Tensor both = g.name("both", x + w);
    const Tensor loss = g.name("loss", reduce_sum(both));
    g.name("train", minimize(loss, SGD{.learning_rate = -1.0}));
  }
};
/// Counts the probed runs.
struct RunCounter {
  int* runs = nullptr;
  void on_run_begin(const ProbedRun&) { ++*runs; }
};
/// Observes one step.
struct ObservedStep {
  using probe = RunCounter;
  int step = 0;
  RunCounter counter{};
  bool due = false;
  void before_run(auto& run) { due = run.step() + 1 == step; }
  probe* due_probe() { return due ? &counter : nullptr; }
};

/// The runs of a session of `batches`: step k has that many rows, of 1. Those of `bad_step` (from 1) are `bad`.
struct Story {
  int steps_per_launch = 4;
  std::vector<int> batches{};
  int bad_step = 0;
  float bad = nan_value;
  int observed_step = 0, plain_step = 0;  ///< is probed; is preceded by a run without hooks

  struct End {
    std::string lines;
    std::int64_t step = 0;
    int runs = 0, probed = 0;
    float w = 0;
  };
  End told() const {
    End end;
    testing::RecordingSink sink;
    MonitoredSession session{cuda::Executor<SoftwareDevice, Batches>(std::make_shared<SoftwareDevice>(2),
                                                                     {.steps_per_launch = steps_per_launch}),
                             HookChain{NanTensor<"both", "loss">{.fail_on_nan = false, .sink = sink},
                                       ObservedStep{.step = observed_step, .counter = {&end.probed}}}};
    for (const int rows : batches) {
      if (session.should_stop()) break;
      const std::vector<float> x(static_cast<std::size_t>(rows) * 3, ++end.runs == bad_step ? bad : 1);
      if (end.runs == plain_step) {
        EXPECT_FALSE(std::isnan(session.run(no_hooks, fetches<"loss">, feed<"x">(std::vector<float>(3)))["loss"_n]));
      }
      session.run("train"_n, feed<"x">(x));
    }
    session.close();
    end.lines = sink.text();
    end.step = session.step();
    end.w = session.executor().variable("w"_n)[0];
    return end;
  }
};
constexpr float large = 3e38F;
const std::string loss_at_3 = "crochet: loss is infinite at step 3; stopping\n";

TEST(ValueWatch, AValueIsReadBeforeALargerBatchReplacesItsMemory) {
  const auto end = Story{.batches = {1, 1, 1, 1, 500, 500, 500, 500}, .bad_step = 3, .bad = large}.told();
  EXPECT_EQ(end.lines, loss_at_3);
  EXPECT_EQ(end.runs, 5);
  EXPECT_EQ(end.step, 3);
  EXPECT_EQ(end.w, 3);
}

TEST(ValueWatch, AValueIsReadBeforeAnotherBatchOverwritesIt) {
  const auto end = Story{.steps_per_launch = 1, .batches = {4, 4, 4, 2, 2}, .bad_step = 3, .bad = large}.told();
  EXPECT_EQ(end.lines, loss_at_3);
  EXPECT_EQ(end.runs, 4);
  EXPECT_EQ(end.step, 3);
  EXPECT_EQ(end.w, 12) << "the first run of a batch is skipped too";
}

TEST(ValueWatch, ValuesOfASkippedRunAreNotReported) {
  // The memory of the larger batch is uninitialised.
  const auto end = Story{.steps_per_launch = 1, .batches = {4, 4, 4, 500}, .bad_step = 3, .bad = large}.told();
  EXPECT_EQ(end.lines, loss_at_3);
  EXPECT_EQ(end.w, 12);
}

TEST(ValueWatch, ARunThatIsQueuedWhenTheNanIsFoundIsSkipped) {
  // Run 7 does not fit; the launch of runs 5 and 6 reads the flags of that before.
  const auto end = Story{.batches = {2, 2, 2, 2, 2, 2, 1}, .bad_step = 3, .bad = large}.told();
  EXPECT_EQ(end.lines, loss_at_3);
  EXPECT_EQ(end.runs, 7);
  EXPECT_EQ(end.step, 3);
  EXPECT_EQ(end.w, 6);
}

TEST(ValueWatch, AProbedRunBehindTheFailingOneIsSkipped) {
  const auto end = Story{.batches = {2, 2, 2, 2, 2}, .bad_step = 3, .bad = large, .observed_step = 4}.told();
  EXPECT_EQ(end.lines, loss_at_3);
  EXPECT_EQ(end.runs, 4);
  EXPECT_EQ(end.probed, 0);
  EXPECT_EQ(end.step, 3);
  EXPECT_EQ(end.w, 6);
}

TEST(ValueWatch, AProbedRunThatFailsIsReportedAtOnce) {
  const auto end = Story{.batches = {2, 2, 2, 2, 2}, .bad_step = 3, .bad = large, .observed_step = 3}.told();
  EXPECT_EQ(end.lines, loss_at_3);
  EXPECT_EQ(end.runs, 3);
  EXPECT_EQ(end.probed, 1);
  EXPECT_EQ(end.w, 6);
}

TEST(ValueWatch, ARunWithoutHooksIsNotSkipped) {
  const auto end = Story{.batches = {2, 2, 2, 2, 2}, .bad_step = 3, .bad = large, .plain_step = 4}.told();
  EXPECT_EQ(end.lines, loss_at_3);
  EXPECT_EQ(end.runs, 4);
  EXPECT_EQ(end.step, 3);
  EXPECT_EQ(end.w, 6);
}

}  // namespace value_watch_test
}  // namespace crochet
