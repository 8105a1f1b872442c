// SPDX-License-Identifier: Apache-2.0
// Standard error and the progress bar: each line of other output is printed above the bar, on a line of its own.
#include <crochet/base/diagnostics.hpp>
#include <crochet/base/standard_error.hpp>
#include <crochet/crochet.hpp>
#include <crochet/debug/stream/event_stream_options.hpp>
#include <crochet/hooks/logging_tensor.hpp>
#include <crochet/hooks/progress_bar.hpp>
#include <crochet/io/event_log.hpp>
#include <crochet/testing.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace standard_error_test {

namespace cr = crochet;
using cr::testing::ManualClock;
using cr::testing::Script;
using Lines = std::vector<std::string>;

/// What a terminal displays after these bytes, without empty lines. "\r" moves to the first column; "\x1b[K" clears the
/// rest of the line.
Lines shown(std::string_view bytes) {
  Lines lines(1);
  std::size_t column = 0;
  while (!bytes.empty()) {
    std::string& line = lines.back();
    std::size_t used = 1;
    if (bytes.starts_with("\x1b[K")) {
      line.resize(std::min(column, line.size()));
      used = 3;
    } else if (bytes[0] == '\r') {
      column = 0;
    } else if (bytes[0] == '\n') {
      lines.emplace_back();
      column = 0;
    } else {
      line.resize(std::max(line.size(), column + 1), ' ');
      line[column++] = bytes[0];
    }
    bytes.remove_prefix(used);
  }
  std::erase(lines, std::string{});
  return lines;
}

TEST(StandardError, LinesOfAllKindsStandAboveTheBar) {
  ::testing::internal::CaptureStderr();
  const ManualClock clock;
  Script run{cr::HookChain{cr::Progress<"loss">{.total = 4, .refresh_seconds = 0, .columns = 60, .clock = clock},
                           cr::LoggingTensor<"loss">{.every_steps = 1, .clock = clock}},
             cr::value<"loss">(0.5F)};
  run.step();
  cr::diagnose("a diagnostic");
  cr::io::EventLogOptions{}.report("an event file's report");
  cr::debug::EventStreamOptions{}.report("a debug stream's report");
  cr::Sink{}("a hook's line");
  run.step();
  run.end();
  cr::diagnose("after the bar");
  EXPECT_EQ(
      shown(::testing::internal::GetCapturedStderr()),
      (Lines{"step 1: loss = 0.5", "a diagnostic", "an event file's report", "a debug stream's report", "a hook's line",
             "step 2: loss = 0.5 (0.000 sec)", "2/4 [==========>         ]  50%  loss = 0.5", "after the bar"}));
}

TEST(StandardError, TheBarIsDrawnAgainBelowALine) {
  ::testing::internal::CaptureStderr();
  cr::detail::standard_error.draw("[=>  ]");
  cr::Sink{}("loss = 0.5");
  cr::detail::standard_error.draw("[==> ]");
  cr::detail::standard_error.leave_bar();
  cr::Sink{}("loss = 0.4");
  EXPECT_EQ(::testing::internal::GetCapturedStderr(),
            "\r[=>  ]\x1b[K\r\x1b[Kloss = 0.5\n[=>  ]\r[==> ]\x1b[K\nloss = 0.4\n");
}

TEST(StandardError, LongLinesAndBarsStayWhole) {
  ::testing::internal::CaptureStderr();
  const std::string line(5000, 'x');
  cr::detail::standard_error.draw("[=>  ]");
  cr::diagnose(line);
  cr::detail::standard_error.leave_bar();
  EXPECT_EQ(shown(::testing::internal::GetCapturedStderr()), (Lines{line, "[=>  ]"}));
}

TEST(StandardError, LinesOfSeveralThreadsStayWhole) {
  constexpr int each = 200;
  ::testing::internal::CaptureStderr();
  std::vector<std::thread> threads;
  for (const char name : {'a', 'b'}) {
    threads.emplace_back([name] {
      for (int i = 0; i < each; ++i) cr::diagnose(std::string(20, name));
    });
  }
  for (int i = 0; i < each; ++i)
    cr::detail::standard_error.draw("[" + std::string(static_cast<std::size_t>(i % 9), '=') + "]");
  for (std::thread& thread : threads) thread.join();
  cr::detail::standard_error.leave_bar();
  const Lines lines = shown(::testing::internal::GetCapturedStderr());
  EXPECT_EQ(std::count(lines.begin(), lines.end(), std::string(20, 'a')), each);
  EXPECT_EQ(std::count(lines.begin(), lines.end(), std::string(20, 'b')), each);
  EXPECT_EQ(lines.size(), 2U * each + 1) << "and the bar";
}

}  // namespace standard_error_test
