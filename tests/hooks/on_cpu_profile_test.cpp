// SPDX-License-Identifier: Apache-2.0
// ProfilerHook on a graph: the timeline has every step of the run under its node's name, with its costs. The training's
// results are the same as without the hook.
#include <crochet/proto/step_stats.pb.h>
#include <crochet/crochet.hpp>
#include <crochet/executor/cpu.hpp>
#include <crochet/hooks/io/profiler_hook.hpp>
#include <crochet/testing/manual_clock.hpp>
#include <crochet/trace/op_label.hpp>
#include <crochet/trace/step_stats.hpp>

#include <nlohmann/json.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../executor/device_under_test.hpp"
#include "../io/temporary_folder.hpp"

namespace on_cpu_profile_test {

namespace cr = crochet;
using namespace cr::literals;

struct Line {
  static constexpr void define(cr::GraphBuilder& g) {
    const auto x = g.placeholder<float>("x", {g.dynamic("batch"), 3});
    const auto y = g.placeholder<float>("y", {g.dynamic("batch"), 1});
    const auto loss = g.name("loss", reduce_mean(square(dense(x, 1, "line") - y)));
    g.name("train", minimize(loss, cr::SGD{.learning_rate = 0.05}));
  }
};
const std::vector<float> x{1, 2, 3, -1, 0, 2}, y{1, -1};

template <class... H>
std::vector<float> losses_of(cr::DeviceUnderTest cpu, H... hook) {
  cr::MonitoredSession session{cpu.compile<Line>(), cr::HookChain{std::move(hook)...}};
  std::vector<float> all;
  for (int i = 0; i < 6; ++i) {
    const auto [loss] = session.run(cr::fetches<"loss">, "train"_n, cr::feed<"x">(x), cr::feed<"y">(y));
    all.push_back(loss);
  }
  session.close();
  return all;
}

template <class... H>
std::vector<float> losses(H... hook) {
  return losses_of(cr::DeviceUnderTest{}, std::move(hook)...);
}

/// Viewers require this: Perfetto drops a slice that overlaps another one in the first lanes of its process.
void expect_no_overlap(const nlohmann::json& events) {
  std::map<int, std::int64_t> end_of;  // by process
  std::vector<std::array<std::int64_t, 3>> slices;
  for (const auto& e : events) {
    if (e["ph"] != "X") continue;
    slices.push_back({e["ts"].get<std::int64_t>(), e["dur"].get<std::int64_t>(), e["pid"].get<std::int64_t>()});
  }
  std::sort(slices.begin(), slices.end());
  for (const auto& [start, duration, process] : slices) {
    EXPECT_GE(duration, 1);
    std::int64_t& end = end_of[static_cast<int>(process)];
    EXPECT_GE(start, end);
    end = start + duration;
  }
  EXPECT_EQ(static_cast<int>(end_of.size()), (cr::on_device_under_test ? 3 : 1) + cr::members_under_test(2))
      << "the threads, the device, its stream and the hooks";
}
void expect_memory_given_back(const nlohmann::json& events) {
  std::int64_t bytes = -1, most = 0;
  for (const auto& e : events) {
    if (e["ph"] != "C") continue;
    bytes = e["args"][cr::on_device_under_test ? "GPU_0" : "cpu"].get<std::int64_t>();
    EXPECT_GE(bytes, 0) << e;
    most = std::max(most, bytes);
  }
  EXPECT_EQ(bytes, 0);
  EXPECT_GT(most, 0);
}

TEST(ProfilerHook, SlicesDoNotOverlapAndMemoryIsGivenBack) {
  const cr::test::TemporaryFolder folder;
  losses_of(cr::DeviceUnderTest{.threads = 2}, cr::ProfilerHook{{.save_steps = 1,
                                                                 .output_dir = folder.path(),
                                                                 .show_memory = true,
                                                                 .run_metadata = true,
                                                                 .event_file = false}});
  for (int step = 2; step <= 6; ++step) {
    const std::string name = "timeline-" + std::to_string(step);
    std::ifstream text(folder / (name + ".json")), bytes(folder / (name + ".pb"), std::ios::binary);
    const auto events = nlohmann::json::parse(text)["traceEvents"];
    crochet::proto::RunMetadata metadata;
    ASSERT_TRUE(metadata.ParseFromIstream(&bytes));
    int nodes = 0;
    for (const auto& device : metadata.step_stats().dev_stats()) nodes += device.node_stats_size();
    EXPECT_EQ(std::count_if(events.begin(), events.end(), [](const auto& e) { return e["ph"] == "X"; }), nodes);
    expect_no_overlap(events);
    expect_memory_given_back(events);
  }
}

TEST(ProfilerHook, ShowsTheStepsOfAGraph) {
  const cr::test::TemporaryFolder folder;
  const std::vector<float> plain = losses();
  const std::vector<float> profiled = losses(
      cr::ProfilerHook{{.save_steps = 2, .output_dir = folder.path(), .run_metadata = true, .event_file = false}});
  EXPECT_EQ(profiled, plain) << "to the last bit";

  std::ifstream file(folder / "timeline-4.pb", std::ios::binary);
  crochet::proto::RunMetadata metadata;
  ASSERT_TRUE(metadata.ParseFromIstream(&file));
  std::set<std::string> names;
  double flops = 0;
  const crochet::proto::DeviceStepStats& device = metadata.step_stats().dev_stats(cr::on_device_under_test ? 1 : 0);
  std::int64_t end = 0;
  for (const crochet::proto::NodeExecStats& n : device.node_stats()) {
    EXPECT_TRUE(names.insert(n.node_name()).second) << n.node_name() << ": one thread, so a node has one slice";
    EXPECT_GE(n.all_start_nanos(), end) << "steps run one after the other";
    end = n.all_start_nanos() + n.all_end_rel_nanos();
    for (const std::string_view figure : cr::trace::parse_op_label(n.timeline_label()).inputs) {
      if (figure.starts_with("FLOP=")) flops += std::stod(std::string(figure.substr(5)));
    }
    for (const crochet::proto::NodeOutput& o : n.output()) {
      for (const auto& d : o.tensor_description().shape().dim()) EXPECT_GT(d.size(), 0) << n.node_name();
    }
  }
  EXPECT_EQ(names.count("line/matmul"), 1U) << device.DebugString();
  EXPECT_GE(flops, 2 * (2 * 2 * 3 * 1)) << "the product and its gradient, of a batch of 2";
  EXPECT_TRUE(std::filesystem::exists(folder / "timeline-6.json"));
  EXPECT_FALSE(std::filesystem::exists(folder / "timeline-3.json"));
}

#if defined(CROCHET_TEST_SOFTWARE_DEVICE)
/// The host's clock stands still. Each step takes 20 us of the device, and so does the begin of the launch.
TEST(ProfilerHook, ATimelineHasTheTimesOfTheDevice) {
  const cr::test::TemporaryFolder folder;
  const cr::testing::ManualClock host{50.0};
  double now = 3.0;
  const auto device = std::make_shared<emulation::SoftwareDevice>(1);
  device->clock = [&] { return now += 20e-6; };
  cr::MonitoredSession session{
      cr::cuda::Executor<emulation::SoftwareDevice, Line>(device),
      cr::HookChain{cr::ProfilerHook{
          {.save_steps = 2, .output_dir = folder.path(), .event_file = false, .clock = host, .wall_clock = [] {
             return 1000.0;
           }}}}};
  for (int i = 0; i < 2; ++i) session.run("train"_n, cr::feed<"x">(x), cr::feed<"y">(y));
  session.close();
  std::ifstream text(folder / "timeline-2.json");
  const auto events = nlohmann::json::parse(text)["traceEvents"];
  std::map<int, std::string> process;
  std::map<std::string, int> slices;
  std::int64_t next = 1'000'000'020;
  std::vector<int> durations;
  for (const auto& e : events) {
    if (e["ph"] == "M") process[e["pid"].get<int>()] = e["args"]["name"].get<std::string>();
    if (e["ph"] != "X") continue;
    const std::string& name = process[e["pid"].get<int>()];
    ++slices[name];
    EXPECT_EQ(e["name"] == "Launch", name.ends_with("device:CPU:0 Compute")) << e;
    if (!name.ends_with("device:GPU:0 Compute")) continue;
    EXPECT_EQ(e["ts"], next) << "steps follow each other";
    durations.push_back(e["dur"].get<int>());
    next += 20;
  }
  const int steps = slices["/job:localhost/replica:0/task:0/device:GPU:0 Compute"];
  std::vector<int> expected(static_cast<std::size_t>(steps), 19);  // one less, since the next slice begins there
  expected.back() = 20;
  EXPECT_EQ(durations, expected);
  EXPECT_EQ(device->counters.launches, 2);
  EXPECT_EQ(slices["/job:localhost/replica:0/task:0/device:CPU:0 Compute"], 1);
  EXPECT_EQ(slices["/device:GPU:0/stream:all Compute"], steps);
}
#endif

}  // namespace on_cpu_profile_test
