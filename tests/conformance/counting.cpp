// SPDX-License-Identifier: Apache-2.0
// StepCounter: spec 4.3, 5.11.
#include <crochet/hooks/step_counter.hpp>
#include <crochet/testing/manual_clock.hpp>
#include <crochet/testing/recording_sink.hpp>

#include <string>
#include <vector>

#include "behaviour.hpp"
#include "hook_loop.hpp"

namespace crochet::conformance {
namespace {

using testing::ManualClock;
using testing::RecordingSink;

/// A StepCounter whose every run takes `seconds`, and the steps at which it spoke.
struct Counted {
  RecordingSink sink{};
  ManualClock clock{};
  HookLoop<StepCounter> loop;

  explicit Counted(StepCounter hook, StepMachine machine = {}) : loop(with(hook, sink, clock), machine) {
    loop.create();
  }
  std::vector<std::int64_t> steps_said(int runs, double seconds) {
    std::vector<std::int64_t> steps;
    for (int i = 0; i < runs; ++i) {
      const std::size_t before = sink.lines().size();
      clock.advance(seconds);
      loop.train();
      if (sink.lines().size() > before) steps.push_back(loop.machine.step);
    }
    return steps;
  }

 private:
  static StepCounter with(StepCounter hook, const RecordingSink& sink, const ManualClock& clock) {
    hook.sink = sink;
    hook.clock = clock;
    return hook;
  }
};

using Steps = std::vector<std::int64_t>;

constexpr const char* from_creation =
    "the first interval begins when the session is created, not after the first run: nothing is left out of the rate";

DIFFERENT(N1, "every 10 steps, 30 steps", "rates at 11 and 21, under the tag global_step/sec, positive; no warning",
          std::string("rates at 10, 20 and 30: ") + from_creation) {
  Counted counted{StepCounter{.every_steps = 10}};
  EXPECT_EQ(counted.steps_said(30, 0.125), (Steps{10, 20, 30}));
  for (const std::string& line : counted.sink.lines()) EXPECT_EQ(line, "global_step/sec: 8");
}

DIFFERENT(N2, "every 0.1 s, three runs 0.2 s apart", "rates at steps 2 and 3",
          std::string("rates at 1, 2 and 3: ") + from_creation) {
  Counted counted{StepCounter{.every_seconds = 0.1}};
  EXPECT_EQ(counted.steps_said(3, 0.2), (Steps{1, 2, 3}));
}

SAME(N4, "the step never moves", "a warning says so") {
  Counted counted{StepCounter{.every_steps = 1}, StepMachine{.stride = 0}};
  counted.steps_said(21, 1.0);
  EXPECT_NE(counted.sink.text().find("not advanced the global step"), std::string::npos) << counted.sink.text();
}

DIFFERENT(N5, "5 steps a run, every 10 steps, 30 steps", "rates at 15 and 25",
          std::string("rates at 10, 20 and 30: ") + from_creation) {
  Counted counted{StepCounter{.every_steps = 10}, StepMachine{.stride = 5}};
  EXPECT_EQ(counted.steps_said(6, 1.0), (Steps{10, 20, 30}));
}

DIFFERENT(N6, "5 steps a run, every 5 steps, 25 steps", "rates at 10, 15, 20 and 25",
          std::string("at 5, too: ") + from_creation) {
  Counted counted{StepCounter{.every_steps = 5}, StepMachine{.stride = 5}};
  EXPECT_EQ(counted.steps_said(5, 1.0), (Steps{5, 10, 15, 20, 25}));
}

DIFFERENT(N7, "10 steps a run, every 5 steps, 50 steps", "rates at 20, 30, 40 and 50",
          std::string("at 10, too: ") + from_creation) {
  Counted counted{StepCounter{.every_steps = 5}, StepMachine{.stride = 10}};
  EXPECT_EQ(counted.steps_said(5, 1.0), (Steps{10, 20, 30, 40, 50}));
}

}  // namespace
}  // namespace crochet::conformance
