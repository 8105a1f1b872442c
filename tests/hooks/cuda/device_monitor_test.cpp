// SPDX-License-Identifier: Apache-2.0
// DeviceMonitor on an NVML in software (fake_nvml.cpp): which runs it reports, what, and a machine without NVML.
#include <crochet/crochet.hpp>
#include <crochet/hooks/cuda/device_monitor.hpp>
#include <crochet/testing.hpp>
#include <crochet/testing/recorded_summaries.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

namespace device_monitor_test {

namespace cr = crochet;
using cr::testing::RecordingSink;
using cr::testing::Script;
using Lines = std::vector<std::string>;

class DeviceMonitor : public ::testing::Test {
 protected:
  void TearDown() override { unsetenv("CROCHET_FAKE_NVML"); }
  static void break_it(const char* how) { setenv("CROCHET_FAKE_NVML", how, 1); }
  RecordingSink sink;
};

TEST_F(DeviceMonitor, ReportsAtMultiplesOfTheInterval) {
  std::vector<cr::GpuUse> seen;
  Script run{cr::DeviceMonitor{
      .every_steps = 3, .device = 1, .then = [&](const cr::GpuUse& use) { seen.push_back(use); }, .sink = sink}};
  for (int i = 0; i < 7; ++i) run.step();
  EXPECT_EQ(sink.lines(), (Lines{"step 3: GPU memory = 11.0 of 80.0 GiB, 98 % busy, 65 C, 412 W",
                                 "step 6: GPU memory = 12.0 of 80.0 GiB, 98 % busy, 65 C, 412 W"}));
  ASSERT_EQ(seen.size(), 2U);
  EXPECT_EQ(seen[0].step, 3);
  EXPECT_EQ(seen[0].memory_used, std::int64_t{11} << 30);
  EXPECT_EQ(seen[0].memory_free, std::int64_t{69} << 30);
  EXPECT_EQ(seen[0].memory_total, std::int64_t{80} << 30);
  EXPECT_EQ(seen[0].memory_busy, 0.41);
  EXPECT_EQ(seen[0].watts, 412.4);
  EXPECT_EQ(run.fetched(), "");
}

TEST_F(DeviceMonitor, WritesSummaries) {
  cr::testing::RecordedSummaries summaries;
  break_it("no_power");
  Script run{cr::DeviceMonitor{.every_steps = 1, .summaries = summaries, .sink = sink}};
  run.step();
  EXPECT_EQ(sink.lines(), Lines{"step 1: GPU memory = 1.0 of 80.0 GiB, 98 % busy, 65 C"}) << "without the power";
  EXPECT_EQ(summaries.lines(),
            Lines{"1: gpu/memory_used = 1.07374e+09, gpu/memory_total = 8.58993e+10, gpu/busy = 0.98, "
                  "gpu/memory_busy = 0.41, gpu/celsius = 65"});
}

TEST_F(DeviceMonitor, OneOfSeveralRanksIsNamedInItsLines) {
  cr::DeviceMonitor monitor{.every_steps = 1, .sink = sink};
  static_assert(cr::runs_on<cr::DeviceMonitor> == cr::RunsOn::chief, "another rank has it in OnEveryRank");
  monitor.join_ranks(2, 4);
  Script run{monitor};
  run.step();
  EXPECT_EQ(sink.lines(), Lines{"rank 2: step 1: GPU memory = 1.0 of 80.0 GiB, 98 % busy, 65 C, 412 W"});
}

/// A session on a GPU with an address on the bus, as crochet::Cuda's.
struct OnGpu {
  static std::string pci_bus_id() { return "0000:3B:00.0"; }
  OnGpu* device() { return this; }
  OnGpu& executor() { return *this; }
  static std::int64_t step() { return 0; }
};
TEST_F(DeviceMonitor, ReadsTheGpuOfTheSession) {
  OnGpu session;
  const auto gibibytes_of = [&](cr::DeviceMonitor monitor) {
    monitor.begin();
    monitor.after_create_session(session, session);
    return monitor.reader().memory_used >> 30;
  };
  EXPECT_EQ(gibibytes_of({}), 11);
  EXPECT_EQ(gibibytes_of({.device = 0}), 1) << "unless a number is given";
}

TEST_F(DeviceMonitor, AMachineWithoutNvmlIsReportedOnce) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // a process of its own: NVML is loaded once
  const auto run = [] {
    break_it("no_driver");
    Script session{cr::DeviceMonitor{.every_steps = 1}};
    for (int i = 0; i < 3; ++i) session.step();
    std::exit(0);
  };
  EXPECT_EXIT(run(), ::testing::ExitedWithCode(0),
              "^crochet: this machine has no NVML \\(Driver Not Loaded\\). It is part of NVIDIA's driver: install the "
              "driver of the GPU. DeviceMonitor reports nothing more\n$");
}

TEST_F(DeviceMonitor, AGpuThatIsNotThereIsReportedOnce) {
  Script run{cr::DeviceMonitor{.every_steps = 1, .device = 7, .sink = sink}};
  for (int i = 0; i < 3; ++i) run.step();
  EXPECT_EQ(sink.lines(),
            Lines{"crochet: cannot find the GPU number 7: Not Found. DeviceMonitor reports nothing more"});
}
TEST_F(DeviceMonitor, AGpuThatIsRequiredIsAnErrorOfTheSession) {
  EXPECT_THROW((Script{cr::DeviceMonitor{.every_steps = 1, .device = 7, .required = true, .sink = sink}}.step()),
               cr::DeviceError);
  EXPECT_EQ(sink.lines(), Lines{});
}
TEST_F(DeviceMonitor, AGpuThatFailsIsReportedOnce) {
  Script run{cr::DeviceMonitor{.every_steps = 1, .sink = sink}};
  break_it("lost");
  for (int i = 0; i < 3; ++i) run.step();
  EXPECT_EQ(sink.lines(),
            Lines{"crochet: cannot read the memory of a GPU: GPU is lost. DeviceMonitor reports nothing more"});
}

}  // namespace device_monitor_test
