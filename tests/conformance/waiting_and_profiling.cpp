// SPDX-License-Identifier: Apache-2.0
// GlobalStepWaiter and Profiler: spec 4.3, 5.12.
#include <crochet/hooks/global_step_waiter.hpp>
#include <crochet/hooks/profiler.hpp>
#include <crochet/testing/manual_clock.hpp>
#include <crochet/testing/recording_sink.hpp>

#include <cstdint>
#include <vector>

#include "behaviour.hpp"
#include "hook_loop.hpp"

namespace crochet::conformance {
namespace {

using testing::ManualClock;
using testing::RecordingSink;

/// A waiter whose naps move the step on by what `steps` says, and how many naps it took.
struct Waiting {
  std::int64_t step = 0;
  int naps = 0;

  void run(std::int64_t wait_until_step, std::vector<std::int64_t> steps) {
    HookLoop loop{
        GlobalStepWaiter{.wait_until_step = wait_until_step,
                         .step_elsewhere = [this] { return step; },
                         .sink = RecordingSink{},
                         .sleep = [this, steps](double) { step = steps.at(static_cast<std::size_t>(naps++)); }}};
    loop.create();
    loop.train();
    EXPECT_EQ(loop.machine.runs, 1);
  }
};

SAME(X1, "a waiter for step 0", "returns at once") {
  Waiting waiting;
  waiting.run(0, {});
  EXPECT_EQ(waiting.naps, 0);
}

SAME(X2, "a waiter for step 1000, while others bring the step to 500 and then 1100",
     "sleeps twice, then lets the run begin") {
  Waiting waiting;
  waiting.run(1000, {500, 1100});
  EXPECT_EQ(waiting.naps, 2);
}

/// Notes the steps that were recorded.
struct NotingTracer {
  std::vector<std::int64_t>* recorded;
  void start() {}
  void stop(std::int64_t step) { recorded->push_back(step); }
  void abandon() {}
};

/// A profiler that is never given more than it notes.
struct Profiled {
  std::vector<std::int64_t> steps{};
  ManualClock clock{};
  HookLoop<Profiler<NotingTracer>> loop;

  explicit Profiled(ProfilerOptions options) : loop(Profiler{NotingTracer{&steps}, with(options, clock)}) {
    loop.create();
  }
  /// One run at that time; whether it was recorded.
  bool records_at(double seconds) {
    const std::size_t before = steps.size();
    clock.set(seconds);
    loop.train();
    return steps.size() > before;
  }

 private:
  static ProfilerOptions with(ProfilerOptions options, const ManualClock& clock) {
    options.clock = clock;
    return options;
  }
};

SAME(X8, "a profiler is given both intervals, or none", "refused (ValueError)") {
  EXPECT_THROW((Profiled{{.every_steps = 10, .every_seconds = 10.0}}), LogicError);
  EXPECT_THROW(Profiled{{}}, LogicError);
}

SAME(X9, "a profiler by seconds, and one by steps: the first run", "is not recorded") {
  EXPECT_FALSE((Profiled{{.every_seconds = 2.0}}.records_at(0)));
  EXPECT_FALSE((Profiled{{.every_steps = 1}}.records_at(0)));
}

SAME(X10, "a profiler every 2 s; runs at 0, 2.5, 2.6, 4.4 and 4.5 s", "records those at 2.5 and 4.5") {
  Profiled profiled{{.every_seconds = 2.0}};
  EXPECT_FALSE(profiled.records_at(0));
  EXPECT_TRUE(profiled.records_at(2.5));
  EXPECT_FALSE(profiled.records_at(2.6));
  EXPECT_FALSE(profiled.records_at(4.4));
  EXPECT_TRUE(profiled.records_at(4.5));
}

SAME(X11, "a profiler every 2 steps; five runs", "there are records of runs 2 and 4") {
  Profiled profiled{{.every_steps = 2}};
  profiled.loop.train(5);
  EXPECT_EQ(profiled.steps, (std::vector<std::int64_t>{2, 4}));
}

DIFFERENT(X12, "hooks", "a profiler every step; two runs",
          "the second one's metadata is in the event file, under the tag step_2",
          "the record is the tracer's to write: it is given the step, which is exactly that of the recorded run, and "
          "nobody else's run is slowed by it") {
  Profiled profiled{{.every_steps = 1}};
  profiled.loop.train(1);
  EXPECT_TRUE(profiled.steps.empty());
  profiled.loop.train(1);
  EXPECT_EQ(profiled.steps, (std::vector<std::int64_t>{2}));
}

}  // namespace
}  // namespace crochet::conformance
