// SPDX-License-Identifier: Apache-2.0
// MemoryMonitor: reports the memory of the program and stops above a limit. A graph's workspace:
// tests/hooks/on_cpu_test.cpp.
#include <crochet/hooks/kit/host_memory.hpp>
#include <crochet/hooks/memory_monitor.hpp>
#include <crochet/testing.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

namespace memory_monitor_test {

namespace cr = crochet;
using cr::testing::RecordingSink;
using cr::testing::Script;
using Lines = std::vector<std::string>;

TEST(MemoryMonitor, ReportsAtMultiplesOfTheInterval) {
  RecordingSink sink;
  std::int64_t mebibytes = 1;
  const auto read = [&] { return cr::HostMemory{.resident = mebibytes << 20, .peak = (mebibytes << 20) + (1 << 19)}; };
  std::vector<cr::MemoryUse> seen;
  Script run{cr::MemoryMonitor{.every_steps = 3,
                               .stop_above = 10 << 20,
                               .then = [&](const auto& use) { seen.push_back(use); },
                               .read = read,
                               .sink = sink}};
  for (; mebibytes <= 12 && !run.should_stop(); mebibytes += 2) run.step();
  EXPECT_EQ(sink.lines(),
            (Lines{"step 3: memory = 5.0 MiB, at most 5.5 MiB", "step 6: memory = 11.0 MiB, at most 11.5 MiB"}));
  EXPECT_TRUE(run.should_stop());
  EXPECT_EQ(run.stop_reason(), "the program uses 11.0 MiB of memory");
  ASSERT_EQ(seen.size(), 2u);
  EXPECT_EQ(seen[1].step, 6);
  EXPECT_FALSE(seen[1].workspace);
  EXPECT_EQ(run.fetched(), "");
}

TEST(MemoryMonitor, TheLimitItselfIsAllowed) {
  std::int64_t bytes = 1000;
  Script run{cr::MemoryMonitor{.every_steps = 1,
                               .stop_above = 1000,
                               .read =
                                   [&] {
                                     return cr::HostMemory{bytes, bytes};
                                   },
                               .sink = cr::no_lines}};
  run.step();
  EXPECT_FALSE(run.should_stop());
  bytes = 1001;
  run.step();
  EXPECT_TRUE(run.should_stop());
}

TEST(MemoryMonitor, TheSystemTells) {
  const std::vector<char> block(32 << 20, 'x');
  const cr::HostMemory memory = cr::host_memory();
  EXPECT_GT(memory.resident, std::int64_t{32} << 20);
  EXPECT_GE(memory.peak, memory.resident);
  EXPECT_EQ(block.back(), 'x');
}

}  // namespace memory_monitor_test
