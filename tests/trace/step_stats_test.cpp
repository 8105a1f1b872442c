// SPDX-License-Identifier: Apache-2.0
// The records of a run, and the step statistics made from them.
#include <crochet/proto/step_stats.pb.h>
#include <crochet/proto/tensor.pb.h>
#include <crochet/trace/figures.hpp>
#include <crochet/trace/step_recorder.hpp>
#include <crochet/trace/step_stats.hpp>
#include <crochet/trace/timeline.hpp>
#include <crochet/trace/wiring.hpp>

#include <nlohmann/json.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "recorded_run.hpp"

namespace step_stats_test {

namespace cr = crochet;
namespace trace = crochet::trace;
using cr::testing::RecordedRun;

std::string slices_text(const trace::RunTrace& run) {
  std::string text;
  const std::int64_t start = run.epoch.ns(run.begin);
  for (const trace::Slice& s : trace::slices_of(run)) {
    const std::int32_t node = run.steps[static_cast<std::size_t>(s.part->step)].node;
    text += std::string(run.names[static_cast<std::size_t>(node)]) + " on " + std::to_string(s.part->member) + ": " +
            std::to_string(s.begin - start) + "-" + std::to_string(s.end - start) + "\n";
  }
  return text;
}

TEST(StepRecorder, MeasuresEachMembersPartOfEachStep) {
  RecordedRun made;
  const trace::RunTrace run = made.record();
  EXPECT_EQ(run.step, 42) << "the step that the run made";
  EXPECT_EQ(run.epoch.ns(run.begin), std::int64_t{1'000'000} * 1'000'000'000) << "since 1970, from the wall clock";
  ASSERT_EQ(run.parts.size(), 5U);
  EXPECT_EQ(run.parts[1].calls, 2) << "a region runs slice by slice";
  EXPECT_NEAR(run.parts[1].busy, 10e-6, 1e-12);
  EXPECT_NEAR(run.parts[1].end - run.parts[1].begin, 12e-6, 1e-12);
  EXPECT_NEAR(run.end - run.begin, 175.5e-6, 1e-12);
  EXPECT_EQ(run.parts[4].member, 1);
}

TEST(StepRecorder, ARegionIsDrawnStepBehindStep) {
  RecordedRun made;
  EXPECT_EQ(slices_text(made.record()),
            "dense/relu on 0: 10000-110250\n"
            "dense/relu on 1: 110250-160250\n"
            "sum/row on 0: 160250-170250\n"  // two slices of 5 us and, between them,
            "sum on 0: 170250-174250\n"      // two of 2 us
            "update on 0: 174250-174500\n");
}

TEST(StepRecorder, StartsAfreshWithEachRun) {
  RecordedRun made;
  made.record();
  EXPECT_FALSE(made.recorder.complete());
  made.recorder.on_run_begin(made.run());
  made.part<3>(0, 1);  // and the run throws
  EXPECT_FALSE(made.recorder.complete());
  made.pass(1);
  const trace::RunTrace run = made.record();
  ASSERT_EQ(run.parts.size(), 5U);
  EXPECT_EQ(run.parts[0].calls, 1);
}

TEST(Wiring, IsThatOfTheStepsNotOfTheNodes) {
  RecordedRun made;
  const trace::RunTrace run = made.record();
  const trace::Wiring wiring(run);
  const auto texts = [&](const std::vector<std::int32_t>& nodes) {
    std::string text;
    for (const std::int32_t n : nodes) text += wiring.tensor(n) + " ";
    return text;
  };
  EXPECT_EQ(texts(wiring.inputs(0)), "x w ");
  EXPECT_EQ(texts(wiring.outputs(0)), "dense/relu dense/relu:1 ") << "the sum reads the product, too";
  EXPECT_EQ(texts(wiring.inputs(1)), "dense/relu ") << "through the view; the constant is left out";
  EXPECT_EQ(texts(wiring.inputs(2)), "sum/row dense/relu:1 ");
  EXPECT_EQ(texts(wiring.inputs(3)), "w sum ");
}

TEST(StepStats, LabelsHaveTheFigures) {
  RecordedRun made;
  const crochet::proto::StepStats stats = trace::step_stats(made.record());
  ASSERT_EQ(stats.dev_stats_size(), 2) << "one for each thread";
  EXPECT_EQ(stats.dev_stats(0).device(), "/job:localhost/replica:0/task:0/device:CPU:0");
  EXPECT_EQ(stats.dev_stats(1).device(), "/job:localhost/replica:0/task:0/device:CPU:0/thread:1");
  EXPECT_EQ(stats.dev_stats(1).thread_names().at(1), "team 1");
  std::vector<std::string> labels;
  for (const auto& device : stats.dev_stats()) {
    for (const auto& n : device.node_stats()) labels.push_back(n.timeline_label());
  }
  // The longer part: 2e6 operations in 100.25 us, and 4000 bytes.
  EXPECT_EQ(labels, (std::vector<std::string>{
                        "dense/relu = MatMul+Relu(x, w, thread=0, us=100.250, nodes=2, FLOP=2000000, bytes=4000, "
                        "GFLOP/s=19.95, GB/s=0.0399)",
                        "[cpu 1.0MB] sum/row = ReduceSum(dense/relu, thread=0, us=10.000, bytes=1000, GB/s=0.1, "
                        "region=0, calls=2, spread_us=12.000)",
                        "sum = ReduceSum(sum/row, dense/relu:1, thread=0, us=4.000, FLOP=500, bytes=4, "
                        "GFLOP/s=0.125, GB/s=0.001, region=0, calls=2, spread_us=9.000)",
                        "update = Assign(w, sum, thread=0, us=0.250)",
                        "dense/relu = MatMul+Relu(x, w, thread=1, us=50.000, nodes=2, FLOP=2000000, bytes=4000, "
                        "GFLOP/s=19.95, GB/s=0.0399)"}));
}

TEST(StepStats, TimesAreMicrosecondsThatDoNotOverlap) {
  RecordedRun made;
  trace::RunTrace run = made.record();
  const auto texts = [&] {
    const crochet::proto::StepStats stats = trace::step_stats(run);
    std::string text;
    for (const auto& n : stats.dev_stats(0).node_stats()) {
      text += std::to_string(n.all_start_micros() - std::int64_t{1'000'000'000'000}) + "+" +
              std::to_string(n.all_end_rel_micros()) + " (" + std::to_string(n.all_end_rel_nanos()) + " ns) ";
    }
    return text;
  };
  EXPECT_EQ(texts(), "10+100 (100250 ns) 160+9 (10000 ns) 170+3 (4000 ns) 174+1 (250 ns) ")
      << "170 and 174 begin where the slices before end, and would open a lane each";
  for (trace::StepPart& part : run.parts) part.busy = part.busy > 50e-6 ? part.busy : 0.2e-6;
  EXPECT_EQ(texts(), "10+100 (100250 ns) 160+1 (200 ns) 161+1 (200 ns) 174+1 (250 ns) ")
      << "two slices of one microsecond are drawn one behind the other";
}

TEST(StepStats, OutputsHangOnThePartThatEndsLast) {
  RecordedRun made;
  const crochet::proto::StepStats stats = trace::step_stats(made.record());
  const auto& nodes = stats.dev_stats(0).node_stats();
  EXPECT_EQ(nodes[0].output_size(), 0);
  const crochet::proto::NodeExecStats& last = stats.dev_stats(1).node_stats(0);
  ASSERT_EQ(last.output_size(), 2);
  EXPECT_EQ(last.output(0).tensor_description().dtype(), crochet::proto::DT_FLOAT);
  EXPECT_EQ(last.output(0).tensor_description().shape().dim(1).size(), 8);
  EXPECT_EQ(last.memory(0).total_bytes(), 4096);
  EXPECT_EQ(nodes[1].memory(0).allocator_bytes_in_use(), 4096 + (1 << 20));
  EXPECT_EQ(nodes[3].output(0).tensor_description().allocation_description().requested_bytes(), 0)
      << "an assignment writes into a variable's memory";
}

TEST(StepStats, DynamicDimensionsAreThoseOfTheRun) {
  RecordedRun made;
  trace::RunTrace run = made.record();
  const auto first = [&] { return trace::step_stats(run).dev_stats(1).node_stats(0).output(0).tensor_description(); };
  EXPECT_EQ(first().shape().dim(0).size(), -1) << "not known";
  run.dims = {32, 0, 0, 0};
  EXPECT_EQ(first().shape().dim(0).size(), 32);
  EXPECT_EQ(first().allocation_description().requested_bytes(), 32 * 8 * 4);
}

TEST(StepStats, AGpuHasTheStepsAndTheHostTheirLaunches) {
  RecordedRun made;
  const crochet::proto::StepStats stats = trace::step_stats(made.record_on_gpu());
  ASSERT_EQ(stats.dev_stats_size(), 3);
  const auto& host = stats.dev_stats(0);
  const auto& gpu = stats.dev_stats(1);
  EXPECT_EQ(host.device(), "/job:localhost/replica:0/task:0/device:CPU:0");
  EXPECT_EQ(gpu.device(), "/job:localhost/replica:0/task:0/device:GPU:1");
  EXPECT_EQ(gpu.thread_names().at(0), "NVIDIA H200, sm_90");
  ASSERT_EQ(host.node_stats_size(), 4);
  ASSERT_EQ(gpu.node_stats_size(), 4);
  const std::int64_t start = std::int64_t{1'000'000} * 1'000'000'000;
  EXPECT_EQ(host.node_stats(1).timeline_label(), "sum/row = Launch(us=2.000)");
  EXPECT_EQ(host.node_stats(1).all_start_nanos(), start + 12000);
  EXPECT_EQ(host.node_stats(1).output_size(), 0);
  EXPECT_EQ(gpu.node_stats(1).timeline_label(),
            "[GPU_1 1.0MB] sum/row = ReduceSum(dense/relu, us=10.000, bytes=1000, GB/s=0.1)");
  EXPECT_EQ(gpu.node_stats(1).all_start_nanos(), start + 113250);
  EXPECT_EQ(gpu.node_stats(1).all_end_rel_nanos(), 10000);
  EXPECT_EQ(gpu.node_stats(1).memory(0).allocator_name(), "GPU_1");
  EXPECT_EQ(gpu.node_stats(1).output(0).tensor_description().allocation_description().allocator_name(), "GPU_1");
}

TEST(StepStats, AGpuMayHaveAllStepsInOneLaunch) {
  RecordedRun made, other;
  const crochet::proto::StepStats stats = trace::step_stats(made.record_on_gpu(true));
  const auto &host = stats.dev_stats(0), &gpu = stats.dev_stats(1);
  ASSERT_EQ(host.node_stats_size(), 1);
  EXPECT_EQ(host.node_stats(0).timeline_label(), "all_steps = Launch(us=8.000)");
  EXPECT_EQ(host.node_stats(0).all_start_nanos(), std::int64_t{1'000'000} * 1'000'000'000 + 10000);
  EXPECT_EQ(gpu.node_stats_size(), 4);
  EXPECT_EQ(gpu.DebugString(), trace::step_stats(other.record_on_gpu()).dev_stats(1).DebugString());
}

TEST(StepStats, AGpuHasKernelsAsTensorFlowsTracerNamesThem) {
  RecordedRun made;
  const crochet::proto::StepStats stats = trace::step_stats(made.record_on_gpu());
  const auto &steps = stats.dev_stats(1), &kernels = stats.dev_stats(2);
  EXPECT_EQ(kernels.device(), "/device:GPU:1/stream:all");
  ASSERT_EQ(kernels.node_stats_size(), steps.node_stats_size());
  EXPECT_EQ(kernels.node_stats(0).node_name(), "dense/relu:MatMul+Relu");
  for (int k = 0; k < steps.node_stats_size(); ++k) {
    EXPECT_EQ(kernels.node_stats(k).all_start_nanos(), steps.node_stats(k).all_start_nanos());
    EXPECT_EQ(kernels.node_stats(k).all_end_rel_micros(), steps.node_stats(k).all_end_rel_micros());
    EXPECT_EQ(kernels.node_stats(k).timeline_label(), "");
  }
  const auto json = nlohmann::json::parse(trace::timeline_json(stats))["traceEvents"];
  EXPECT_EQ(json.back()["name"], "Assign");
  EXPECT_EQ(json.back()["args"], (nlohmann::json{{"name", "update"}, {"op", "Assign"}}));
}

TEST(StepStats, AStepOfAGpuTakesTheTimeOfTheGpu) {
  RecordedRun made;
  const std::vector<double> seconds = trace::seconds_of_steps(made.record_on_gpu());
  EXPECT_NEAR(seconds[0], 100.25e-6, 1e-12);
  EXPECT_NEAR(seconds[3], 0.25e-6, 1e-12);
}

TEST(StepStats, HooksHaveADeviceOfTheirOwn) {
  RecordedRun made;
  trace::RunTrace run = made.record();
  run.phases = {{"LoggingTensor<\"loss\", \"accuracy\">", "before_run", 100.0001, 100.0001035},
                {"FeedFn<main()::<lambda(auto:1&)>>", "after_run", 100.0001035, 100.0002}};
  const crochet::proto::StepStats stats = trace::step_stats(run);
  ASSERT_EQ(stats.dev_stats_size(), 3);
  EXPECT_EQ(stats.dev_stats(2).device(), "/job:localhost/replica:0/task:0/device:HOOKS:0");
  EXPECT_EQ(stats.dev_stats(2).node_stats(0).all_end_rel_micros(), 2) << "the next begins in the same microsecond";
  EXPECT_EQ(stats.dev_stats(2).node_stats(0).all_end_rel_nanos(), 3500);
  const auto json = nlohmann::json::parse(trace::timeline_json(stats))["traceEvents"];
  EXPECT_EQ(json.back()["name"], "FeedFn<main()::<lambda(auto:1&)>>");
  EXPECT_EQ(json.back()["args"]["input0"], "phase=after_run");
  EXPECT_EQ(json[json.size() - 2]["args"]["name"], "LoggingTensor<\"loss\", \"accuracy\">/before_run");
}

TEST(StepStats, AnyNameOfAHookIsShownWhole) {
  RecordedRun made;
  trace::RunTrace run = made.record();
  // As g++ names a class inside a function template; the other names occur with no compiler.
  const std::vector<std::string> names{"f() [with T = int]Local", "A = B(c) = D", "Quote<\"\\\"\n\x01>", ""};
  for (const std::string& name : names) run.phases.push_back({name, "after_run", 100.0001, 100.0002});
  const auto json = nlohmann::json::parse(trace::timeline_json(trace::step_stats(run)))["traceEvents"];
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto& e = json[json.size() - names.size() + i];
    EXPECT_EQ(e["args"]["name"], names[i] + "/after_run");
    EXPECT_EQ(e["args"].value("input0", ""), "phase=after_run") << e;
  }
  EXPECT_EQ(json[json.size() - 4]["name"], "f() [with T=int]Local");
  EXPECT_EQ(json[json.size() - 3]["name"], "A=B(c)=D");
  EXPECT_EQ(json[json.size() - 2]["name"], "Quote<\"\\\" \x01>");
}

TEST(StepStats, AStepWithoutATensorHasNoOutput) {
  RecordedRun made;
  made.nodes[8].has_tensor = false;
  const crochet::proto::StepStats stats = trace::step_stats(made.record());
  EXPECT_EQ(stats.dev_stats(0).node_stats(3).node_name(), "update");
  EXPECT_EQ(stats.dev_stats(0).node_stats(3).output_size(), 0);
  EXPECT_EQ(stats.dev_stats(0).node_stats(2).output_size(), 1);
}

TEST(StepStats, MemoryIsGivenBack) {
  RecordedRun made;
  trace::RunTrace run = made.record();
  run.dims = {32, 0, 0, 0};
  for (const double busy : {0.0, 1e-7, 1e-5}) {  // zero, less than a microsecond, more
    for (trace::StepPart& part : run.parts) part.busy = busy;
    const auto json = nlohmann::json::parse(trace::timeline_json(trace::step_stats(run), {.show_memory = true}));
    std::int64_t last = -1, most = 0;
    for (const auto& e : json["traceEvents"]) {
      if (e["ph"] != "C") continue;
      last = e["args"]["cpu"].get<std::int64_t>();
      EXPECT_GE(last, 0) << e;
      most = std::max(most, last);
    }
    EXPECT_EQ(last, 0);
    EXPECT_GE(most, 2 * 32 * 8 * 4) << "the two outputs of the first step";
  }
}

TEST(StepStats, FiguresAreNoTensors) {
  RecordedRun made;
  const trace::RunTrace run = made.record();
  const auto json = nlohmann::json::parse(trace::timeline_json(trace::step_stats(run)))["traceEvents"];
  for (const auto& e : json) {
    const std::string phase = e["ph"].get<std::string>(), name = e["name"].get<std::string>();
    EXPECT_TRUE((phase != "s" && phase != "t") || name.find('=') == std::string::npos) << name;
    EXPECT_TRUE(phase != "X" || e["dur"].get<int>() > 0) << name;
  }
}

TEST(StepStats, ARunWithoutStepsIsOneNode) {
  RecordedRun made;
  cr::ProbedRun run;
  made.recorder.on_run_begin(run);
  made.pass(1500);
  made.recorder.on_run_end();
  const crochet::proto::StepStats stats = trace::step_stats(made.recorder.take());
  ASSERT_EQ(stats.dev_stats(0).node_stats_size(), 1);
  EXPECT_EQ(stats.dev_stats(0).node_stats(0).timeline_label(), "run = Run(us=1500.000)");
}

TEST(Figures, DoNotDependOnTheLocale) {
  EXPECT_EQ(trace::figure(81.254), "81.25");
  EXPECT_EQ(trace::figure(0.00312345), "0.003123");
  EXPECT_EQ(trace::fixed_figure(1234.5, 1), "1234.5");
  EXPECT_EQ(trace::fixed_figure(2e15, 0), "2000000000000000");
}

}  // namespace step_stats_test
