// SPDX-License-Identifier: Apache-2.0
// SummarySaver: spec 4.3, 5.11.
#include <crochet/executor/step/step_executor.hpp>
#include <crochet/hooks/summary_saver.hpp>
#include <crochet/session/run_session.hpp>
#include <crochet/testing/manual_clock.hpp>
#include <crochet/testing/recorded_summaries.hpp>
#include <crochet/testing/script.hpp>

#include <string>
#include <vector>

#include "behaviour.hpp"

namespace crochet::conformance {
namespace summaries_scenarios {

using testing::ManualClock;
using testing::RecordedSummaries;

using Lines = std::vector<std::string>;
using Saver = SummarySaver<summary::Scalar<"a">>;
using SaverOfTwo = SummarySaver<summary::Scalar<"a">, summary::Scalar<"b">>;

/// Runs a step function that counts how often a and b were computed: `runs` times, `seconds` apart. Returns the
/// summaries from before the close.
template <class Hook>
Lines saved_in(Hook hook, int runs, double seconds = 0) {
  RecordedSummaries saved;
  ManualClock clock;
  hook.summaries = saved;
  hook.clock = clock;
  int a = 0, b = 0;
  StepExecutor step{[&](auto& out) {
                      if (out.due("a"_n)) out["a"_n] = static_cast<float>(++a);
                      if (out.due("b"_n)) out["b"_n] = static_cast<float>(10 * ++b);
                    },
                    output<float, "a">, output<float, "b">};
  MonitoredSession session{step, HookChain{hook}};
  for (int i = 0; i < runs; ++i) {
    session.run();
    clock.advance(seconds);
  }
  const Lines lines = saved.lines();
  session.close();
  return lines;
}

DIFFERENT(U1, "hooks",
          "a summary saver with neither or both of a scaffold and a summary op; with both intervals, or none",
          "refused (ValueError)",
          "intervals: refused as well. What to save is part of the hook's type: without it the hook does not compile") {
  RecordedSummaries saved;
  using testing::Script;
  EXPECT_THROW((Script{Saver{.every_steps = 1, .every_seconds = 1.0, .summaries = saved}, value<"a">(1.0f)}),
               LogicError);
  EXPECT_THROW((Script{Saver{.summaries = saved}, value<"a">(1.0f)}), LogicError);
  EXPECT_NO_THROW((Script{Saver{.every_steps = 1, .summaries = saved}, value<"a">(1.0f)}));
}

SAME(U2, "every 8 steps, 30 runs",
     "summaries at 1, 9, 17 and 25, and the summary op ran these four times only: its values are 1 to 4") {
  EXPECT_EQ(saved_in(Saver{.every_steps = 8, .anchor = Anchor::first_run}, 30),
            (Lines{"1: a = 1", "9: a = 2", "17: a = 3", "25: a = 4"}));
}

SAME(U3, "two summaries, every 8 steps, 10 runs", "both are written, at 1 and 9") {
  EXPECT_EQ(saved_in(SaverOfTwo{.every_steps = 8, .anchor = Anchor::first_run}, 10),
            (Lines{"1: a = 1, b = 10", "9: a = 2, b = 20"}));
}

SAME(U4, "every 0.5 s, runs 0.5 s apart", "a summary in every step") {
  EXPECT_EQ(saved_in(Saver{.every_seconds = 0.5}, 4, 0.5), (Lines{"1: a = 1", "2: a = 2", "3: a = 3", "4: a = 4"}));
}

SAME(U5, "every 9 s, eight runs 3.1 s apart", "summaries at 1, 4 and 7") {
  EXPECT_EQ(saved_in(Saver{.every_seconds = 9}, 8, 3.1), (Lines{"1: a = 1", "4: a = 2", "7: a = 3"}));
}

NOT_APPLICABLE(U6, "U2 with resource variables", "as U2",
               "there is one kind of variables, and the session has the exact step before and after each run. Shown: "
               "U2 with a step that starts at 100, as after a restore") {
  RecordedSummaries saved;
  testing::Script run{Saver{.every_steps = 8, .anchor = Anchor::first_run, .summaries = saved}, value<"a">(1.0f)};
  run.set_step(100);
  for (int i = 0; i < 30; ++i) run.step();
  EXPECT_EQ(saved.lines(), (Lines{"101: a = 1", "109: a = 1", "117: a = 1", "125: a = 1"}));
}

}  // namespace summaries_scenarios
}  // namespace crochet::conformance
