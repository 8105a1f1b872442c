// SPDX-License-Identifier: Apache-2.0
// Probes that record all tensors, and their checks: every value equals the oracle's, and inputs come before their
// users.
#pragma once
#include <cstring>
#include <set>
#include <string>
#include <vector>

#include <crochet/graph/probe/probe.hpp>

#include "against_oracle.hpp"

namespace crochet {

template <class X>
std::vector<double> numbers(const ProbedTensor& tensor) {
  std::vector<X> values(tensor.bytes.size() / sizeof(X));
  std::memcpy(values.data(), tensor.bytes.data(), values.size() * sizeof(X));
  return {values.begin(), values.end()};
}
inline std::vector<double> numbers_in(const ProbedTensor& tensor) {
  if (tensor.dtype == DType::float32) return numbers<float>(tensor);
  if (tensor.dtype == DType::float64) return numbers<double>(tensor);
  if (tensor.dtype == DType::int32) return numbers<std::int32_t>(tensor);
  if (tensor.dtype == DType::int64) return numbers<std::int64_t>(tensor);
  return numbers<std::uint8_t>(tensor);
}

/// Records all tensors that are passed to it.
template <class W>
struct Recorder {
  using watches = W;
  struct Shown {
    std::int32_t node;
    std::vector<double> values;
    std::vector<std::int64_t> shape;
  };
  std::vector<Shown> shown;
  std::vector<std::string> names;
  GraphTable graph;
  std::vector<ProbedStep> steps;
  std::vector<std::vector<std::int32_t>> nodes_of_steps;
  std::vector<ProbedSlot> slots;
  int ends = 0;

  void on_run_begin(const ProbedRun& run) {
    shown.clear();
    graph = run.graph;
    names.assign(run.node_names.begin(), run.node_names.end());
    steps.assign(run.steps.begin(), run.steps.end());
    nodes_of_steps.clear();
    for (const ProbedStep& s : run.steps) nodes_of_steps.emplace_back(s.nodes.begin(), s.nodes.end());
    slots.assign(run.slots.begin(), run.slots.end());
  }
  template <std::size_t I>
  void on_node_end(const ProbedTensor& tensor) {
    EXPECT_EQ(tensor.node, static_cast<std::int32_t>(I));
    EXPECT_EQ(tensor.dtype, graph.nodes[I].dtype);
    shown.push_back({tensor.node, numbers_in(tensor), {tensor.shape.begin(), tensor.shape.end()}});
  }
  void on_run_end() { ++ends; }
};

/// Each recorded value equals the oracle's; no node occurs twice; inputs come before users.
template <class W>
void check(const Recorder<W>& recorder, const testing::Oracle& oracle, double tolerance) {
  std::set<std::int32_t> seen;
  for (const auto& s : recorder.shown) {
    const auto node = static_cast<std::size_t>(s.node);
    const testing::Array* expected = oracle.computed(node);
    ASSERT_NE(expected, nullptr) << recorder.names[node];
    EXPECT_TRUE(agree(expected->data, s.values, tolerance)) << recorder.names[node];
    EXPECT_EQ(expected->shape, s.shape) << recorder.names[node];
    EXPECT_TRUE(seen.insert(s.node).second) << recorder.names[node] << " is shown twice";
    for (const std::int32_t in : recorder.graph.nodes[node].inputs) {
      if (in < 0 || !W::matches(recorder.names[static_cast<std::size_t>(in)], "", "")) continue;
      EXPECT_TRUE(seen.count(in) != 0) << recorder.names[node] << " before "
                                       << recorder.names[static_cast<std::size_t>(in)];
    }
  }
}
/// All nodes that the demand computes are recorded.
template <class W>
void check_complete(const Recorder<W>& recorder, const testing::Oracle& oracle) {
  std::set<std::int32_t> seen;
  for (const auto& s : recorder.shown) seen.insert(s.node);
  for (std::size_t i = 0; i < recorder.graph.nodes.size(); ++i) {
    EXPECT_EQ(oracle.computed(i) != nullptr, seen.count(static_cast<std::int32_t>(i)) != 0) << recorder.names[i];
  }
}

using Loss = Names<Name<"loss">>;
using Train = Names<Name<"train">>;

template <class Model>
void watch_everything(int threads, std::initializer_list<std::int64_t> batches, double tolerance) {
  AgainstOracle<Model> both(threads, tolerance);
  Recorder<WatchEverything> recorder;
  for (const std::int64_t batch : batches) {
    both.run_probed(Loss{}, Train{}, {batch}, &recorder);
    check(recorder, both.oracle, tolerance);
    check_complete(recorder, both.oracle);
    both.run(Loss{}, Train{}, {batch});  // a plain step continues from the same variables
  }
  EXPECT_EQ(recorder.ends, static_cast<int>(batches.size()));
}

}  // namespace crochet
