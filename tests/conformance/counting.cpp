// SPDX-License-Identifier: Apache-2.0
// StepCounter: spec 4.3, 5.11.
#include <crochet/hooks/step_counter.hpp>
#include <crochet/testing/manual_clock.hpp>
#include <crochet/testing/recorded_summaries.hpp>
#include <crochet/testing/recording_sink.hpp>

#include <string>
#include <vector>

#include "behaviour.hpp"
#include "hook_loop.hpp"

namespace crochet::conformance {
namespace counting_scenarios {

using testing::ManualClock;
using testing::RecordedSummaries;
using testing::RecordingSink;

/// A StepCounter with its messages and summaries.
struct Counted {
  RecordingSink sink{};
  RecordedSummaries summaries{};
  ManualClock clock{};
  HookLoop<StepCounter> loop;

  explicit Counted(StepCounter hook, StepMachine machine = {}) : loop(wired(hook), machine) { loop.create(); }
  /// Runs, each of the given duration. Returns the new summaries.
  std::vector<std::string> run(int runs, double seconds) {
    const std::size_t before = summaries.lines().size();
    for (int i = 0; i < runs; ++i) {
      clock.advance(seconds);
      loop.train();
    }
    return {summaries.lines().begin() + static_cast<std::ptrdiff_t>(before), summaries.lines().end()};
  }

 private:
  StepCounter wired(StepCounter hook) {
    hook.sink = sink;
    hook.clock = clock;
    hook.summaries = summaries;
    return hook;
  }
};

using Lines = std::vector<std::string>;

/// With the original's anchor: the first run begins the first interval.
StepCounter counter(std::int64_t steps) { return {.every_steps = steps, .anchor = Anchor::first_run}; }

SAME(N1, "every 10 steps, 30 steps", "rates at 11 and 21, under the tag global_step/sec, positive; no warning") {
  Counted counted{counter(10)};
  EXPECT_EQ(counted.run(30, 0.125), (Lines{"11: global_step/sec = 8", "21: global_step/sec = 8"}));
  EXPECT_EQ(counted.sink.lines(), (Lines{"step 11: global_step/sec = 8", "step 21: global_step/sec = 8"}))
      << "and no warning";
}

SAME(N2, "every 0.1 s, three runs 0.2 s apart", "rates at steps 2 and 3") {
  Counted counted{StepCounter{.every_seconds = 0.1, .anchor = Anchor::first_run}};
  EXPECT_EQ(counted.run(3, 0.2), (Lines{"2: global_step/sec = 5", "3: global_step/sec = 5"}));
}

DIFFERENT(N3, "hooks", "a global step that is called bar/foo", "the tag follows its name: bar/foo/sec",
          "the name is an option of the hook: the step belongs to the session and needs no node in the graph") {
  Counted counted{StepCounter{.every_steps = 1, .step_name = "bar/foo"}};
  EXPECT_EQ(counted.run(1, 0.5), (Lines{"1: bar/foo/sec = 2"}));
}

SAME(N4, "the step does not change in twenty runs", "a warning says so") {
  Counted counted{StepCounter{.every_steps = 1}, StepMachine{.stride = 0}};
  EXPECT_TRUE(counted.run(21, 1.0).empty());
  EXPECT_NE(counted.sink.text().find("not advanced the global step"), std::string::npos) << counted.sink.text();
}

SAME(N5, "5 steps a run, every 10 steps, 30 steps", "rates at 15 and 25") {
  Counted counted{counter(10), StepMachine{.stride = 5}};
  EXPECT_EQ(counted.run(6, 1.0), (Lines{"15: global_step/sec = 5", "25: global_step/sec = 5"}));
}

SAME(N6, "5 steps a run, every 5 steps, 25 steps", "rates at 10, 15, 20 and 25") {
  Counted counted{counter(5), StepMachine{.stride = 5}};
  EXPECT_EQ(counted.run(5, 1.0), (Lines{"10: global_step/sec = 5", "15: global_step/sec = 5", "20: global_step/sec = 5",
                                        "25: global_step/sec = 5"}));
}

SAME(N7, "10 steps a run, every 5 steps, 50 steps", "rates at 20, 30, 40 and 50") {
  Counted counted{counter(5), StepMachine{.stride = 10}};
  EXPECT_EQ(counted.run(5, 1.0), (Lines{"20: global_step/sec = 10", "30: global_step/sec = 10",
                                        "40: global_step/sec = 10", "50: global_step/sec = 10"}));
}

}  // namespace counting_scenarios
}  // namespace crochet::conformance
