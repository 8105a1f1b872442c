// SPDX-License-Identifier: Apache-2.0
// LoggingTensor: spec 4.3, 5.9.
#include <crochet/hooks/logging_tensor.hpp>
#include <crochet/testing/manual_clock.hpp>
#include <crochet/testing/recording_sink.hpp>
#include <crochet/testing/script.hpp>

#include <cstddef>
#include <functional>
#include <string>

#include "behaviour.hpp"

namespace crochet::conformance {
namespace logging_scenarios {

using testing::ManualClock;
using testing::RecordingSink;
using testing::Script;

/// LoggingTensor of the value t with the original's anchor, and its output.
struct Logged {
  RecordingSink sink{};
  ManualClock clock{};

  LoggingTensor<"t"> every_steps(std::int64_t steps, bool at_end = false) {
    return {.every_steps = steps, .anchor = Anchor::first_run, .at_end = at_end, .sink = sink, .clock = clock};
  }
  LoggingTensor<"t"> every_seconds(double seconds, bool at_end = false) {
    return {.every_seconds = seconds, .at_end = at_end, .sink = sink, .clock = clock};
  }
  /// The number of new lines since the last call.
  std::size_t new_lines() {
    const std::size_t count = sink.lines().size();
    sink.clear();
    return count;
  }
};

template <class Script>
void steps(Script& run, int count) {
  for (int i = 0; i < count; ++i) run.step(value<"t">(42.0f));
}

/// The error message of begin for an invalid hook.
template <class H>
std::string refusal(H hook) {
  try {
    Script run{hook};
  } catch (const LogicError& error) {
    return error.what();
  }
  return "";
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

SAME(L1, "an interval of 0 or -10 runs; both intervals; none without at_end",
     "refused: \"invalid every_n_iter\", \"exactly one of\" (ValueError)") {
  Logged log;
  EXPECT_TRUE(contains(refusal(log.every_steps(0)), "invalid every_steps"));
  EXPECT_TRUE(contains(refusal(log.every_steps(-10)), "invalid every_steps"));
  EXPECT_TRUE(contains(refusal(LoggingTensor<"t">{.every_steps = 5, .every_seconds = 5.0}), "exactly one of"));
  EXPECT_TRUE(contains(refusal(LoggingTensor<"t">{}), "exactly one of"));
  EXPECT_EQ(refusal(LoggingTensor<"t">{.at_end = true, .sink = log.sink}), "");
}

SAME(L2, "at_end alone: three runs, then the end", "nothing is logged in the runs, one line at the end") {
  Logged log;
  Script run{LoggingTensor<"t">{.at_end = true, .sink = log.sink, .clock = log.clock}};
  steps(run, 3);
  EXPECT_EQ(log.new_lines(), 0u);
  run.end();
  EXPECT_EQ(log.sink.text(), "step 3: t = 42.0\n");
}

/// One line in the first run; then three times no line in nine runs and one in the tenth.
template <class Script>
void expect_every_tenth(Script& run, Logged& log) {
  steps(run, 1);
  EXPECT_EQ(log.new_lines(), 1u);
  for (int round = 0; round < 3; ++round) {
    steps(run, 9);
    EXPECT_EQ(log.new_lines(), 0u) << "round " << round;
    steps(run, 1);
    EXPECT_EQ(log.new_lines(), 1u) << "round " << round;
  }
}

SAME(L3, "every 10 runs without at_end, in two sessions of the same hook",
     "logs in run 1, then after nine silent runs in the tenth, three times over; nothing at the end; the second "
     "session is like the first") {
  Logged log;
  LoggingTensor<"t"> hook = log.every_steps(10);
  for (int session = 0; session < 2; ++session) {
    Script run{hook};
    expect_every_tenth(run, log);
    run.end();
    EXPECT_EQ(log.new_lines(), 0u);
    hook = run.hook();  // including its state
  }
}

DIFFERENT(L4, "hooks", "every 10 runs with at_end", "the same, and a line at the end, also when the last run has one",
          "no second line for one step; a run more, and the end has its line") {
  Logged log;
  for (const int more : {0, 1}) {
    Script run{log.every_steps(10, true)};
    expect_every_tenth(run, log);
    steps(run, more);
    run.end();
    EXPECT_EQ(log.new_lines(), more == 0 ? 0u : 1u);
  }
}

DIFFERENT(L5, "hooks", "every run: the text of the first line",
          "\"t = 42.0\": no elapsed seconds; the later ones have them, \"(0.125 sec)\"",
          "the same after the step, \"step 2: \": a line can be related to plots and checkpoints") {
  Logged log;
  Script run{log.every_steps(1)};
  steps(run, 1);
  log.clock.advance(0.125);
  steps(run, 1);
  EXPECT_EQ(log.sink.text(), "step 1: t = 42.0\nstep 2: t = 42.0 (0.125 sec)\n");
}

DIFFERENT(L6, "hooks", "every second: two runs at one time, a third one second later, with and without at_end",
          "logs in the first, not in the second, in the third; at the end only with at_end, the third once more",
          "no second line for the third; with at_end a fourth run has its line at the end") {
  for (const bool at_end : {false, true}) {
    Logged log;
    Script run{log.every_seconds(1.0, at_end)};
    steps(run, 1);
    EXPECT_EQ(log.new_lines(), 1u);
    steps(run, 1);
    EXPECT_EQ(log.new_lines(), 0u);
    log.clock.advance(1.0);
    steps(run, 1);
    EXPECT_EQ(log.new_lines(), 1u);
    steps(run, 1);
    EXPECT_EQ(log.new_lines(), 0u);
    run.end();
    EXPECT_EQ(log.new_lines(), at_end ? 1u : 0u);
  }
}

SAME(L7, "a formatter", "what it returns is the logged text") {
  Logged log;
  LoggingTensor<"t"> hook = log.every_steps(10);
  hook.formatter = [](const LoggedValues& values) { return "qqq=" + values["t"].text; };
  Script run{hook};
  steps(run, 1);
  EXPECT_EQ(log.sink.text(), "qqq=42.0\n");
}

}  // namespace logging_scenarios
}  // namespace crochet::conformance
