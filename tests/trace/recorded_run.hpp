// SPDX-License-Identifier: Apache-2.0
// A recorded run: a small graph in four steps, two of them in a region, on a team of two, with a clock that the test
// moves.
#pragma once

#include <crochet/testing/manual_clock.hpp>
#include <crochet/trace/run_trace.hpp>
#include <crochet/trace/step_recorder.hpp>

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

namespace crochet::testing {

struct RecordedRun {
  // x [batch, 4] and w [4, 8] -> product -> relu (fused) -> two reductions in a region -> an assignment
  static constexpr std::array<std::string_view, 9> names{"x",       "w",   "dense/product", "dense/relu", "one",
                                                         "sum/row", "sum", "view",          "update"};
  std::array<GraphTable::Node, 9> nodes{};
  std::vector<std::int32_t> dense{2, 3}, row{5}, sum{6}, update{8};
  std::vector<ProbedStep> steps;
  std::vector<ProbedSlot> slots{{4096, 0, 2}, {1 << 20, 1, 3}};
  ManualClock clock{100.0};  // seconds
  trace::StepRecorder recorder{clock, [] { return 1'000'000.0; }};

  explicit RecordedRun() {
    const Shape batch_by_8{Extent::symbol(0), 8}, batch{Extent::symbol(0)};
    nodes[0] = node("placeholder", OpKind::source, {Extent::symbol(0), 4});
    nodes[1] = node("variable", OpKind::source, {4, 8});
    nodes[2] = node("matmul", OpKind::kernel, batch_by_8, {0, 1});
    nodes[3] = node("relu", OpKind::elementwise, batch_by_8, {2});
    nodes[4] = node("constant", OpKind::source, {});
    nodes[5] = node("reduce_sum", OpKind::kernel, batch, {7, 4});
    nodes[6] = node("reduce_sum", OpKind::kernel, {}, {5, 2});
    nodes[7] = node("reshape", OpKind::view, batch_by_8, {3});
    nodes[8] = node("assign", OpKind::assign, {4, 8}, {1, 6});
    steps = {{3, dense, -1, 2e6, 3000, 1000}, {5, row, 0, 0, 1000, 0}, {6, sum, 0, 500, 0, 4}, {8, update}};
  }

  [[nodiscard]] ProbedRun run() const {
    ProbedRun run;
    run.graph = {nodes};
    run.node_names = names;
    run.steps = steps;
    run.members = 2;
    run.step = 41;
    run.slots = slots;
    run.variable_bytes = 128;
    return run;
  }
  void pass(double microseconds) { clock.advance(microseconds * 1e-6); }
  template <std::size_t I>
  void part(int member, double microseconds) {
    recorder.on_node_begin<I>(member);
    pass(microseconds);
    recorder.on_node_end<I>(member);
  }

  /// Records a run: the product on both members, the region in two slices on the first member, the update.
  trace::RunTrace record() {
    recorder.on_run_begin(run());
    pass(10);
    part<3>(0, 100.25);
    part<3>(1, 50);
    for (int slice = 0; slice < 2; ++slice) {
      part<5>(0, 5);
      part<6>(0, 2);
    }
    part<8>(0, 0.25);
    pass(1);
    recorder.on_run_end();
    return recorder.take();
  }

  /// Records a run on a GPU: launches of 2 us, or one for all steps, and steps of 100.25, 10, 4 and 0.25 us on the
  /// device.
  trace::RunTrace record_on_gpu(bool one_launch = false) {
    for (ProbedStep& step : steps) step.region = -1;
    ProbedRun begun = run();
    begun.members = 1;
    begun.device = {"NVIDIA H200, sm_90", 1};
    recorder.on_run_begin(begun);
    pass(10);
    recorder.on_device_begin();
    if (one_launch) {
      recorder.on_launch_begin();
      pass(8);
      recorder.on_launch_end();
    } else {
      part<3>(0, 2);
      part<5>(0, 2);
      part<6>(0, 2);
      part<8>(0, 2);
    }
    pass(112);
    recorder.on_node_device_times<3>(3e-6, 103.25e-6);
    recorder.on_node_device_times<5>(103.25e-6, 113.25e-6);
    recorder.on_node_device_times<6>(113.25e-6, 117.25e-6);
    recorder.on_node_device_times<8>(118e-6, 118.25e-6);
    recorder.on_run_end();
    return recorder.take();
  }

 private:
  static GraphTable::Node node(std::string_view op, OpKind kind, const Shape& shape,
                               std::vector<std::int32_t> inputs = {}) {
    GraphTable::Node n;
    n.op = op;
    n.kind = kind;
    n.shape = shape;
    for (std::size_t k = 0; k < max_inputs; ++k) n.inputs[k] = k < inputs.size() ? inputs[k] : -1;
    return n;
  }
};

}  // namespace crochet::testing
