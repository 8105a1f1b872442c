// SPDX-License-Identifier: Apache-2.0
// The data flow between the steps of a run. Steps are fused groups of nodes, so it differs from the graph's edges:
// values inside a group are not inputs.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <crochet/trace/run_trace.hpp>

namespace crochet::trace {

/// Inputs and outputs of each step, as TensorFlow's tensor names: `node`, and `node:1`, `node:2` for a group's outputs
/// besides the value of its name. Constants are omitted.
class Wiring {
 public:
  explicit Wiring(const RunTrace& run)
      : run_(run), step_of_(run.graph.nodes.size(), -1), inputs_(run.steps.size()), outputs_(run.steps.size()) {
    for (std::size_t k = 0; k < run.steps.size(); ++k) {
      for (const std::int32_t node : run.steps[k].nodes) {
        if (step_of(node) < 0) step_of_[index(node)] = static_cast<std::int32_t>(k);
      }
    }
    for (std::size_t k = 0; k < run.steps.size(); ++k) {
      step_of_[index(run.steps[k].node)] = static_cast<std::int32_t>(k);  // a node that is computed twice belongs to
                                                                          // this step
      outputs_[k].push_back(run.steps[k].node);
    }
    for (std::size_t k = 0; k < run.steps.size(); ++k) connect(k);
  }

  /// The nodes whose values the step outputs: the one of its name, then others that a step reads.
  [[nodiscard]] const std::vector<std::int32_t>& outputs(std::size_t step) const { return outputs_[step]; }
  /// The nodes whose values it reads, each once: outputs of other steps, feeds, variables.
  [[nodiscard]] const std::vector<std::int32_t>& inputs(std::size_t step) const { return inputs_[step]; }
  /// The step that computes a node's value; -1 for a source.
  [[nodiscard]] std::int32_t step_of(std::int32_t node) const { return step_of_[index(node)]; }
  /// The name of a node's value.
  [[nodiscard]] std::string tensor(std::int32_t node) const {
    const std::int32_t step = step_of(node);
    if (step < 0) return std::string(run_.names[index(node)]);
    const std::vector<std::int32_t>& out = outputs_[index(step)];
    const auto position = std::find(out.begin(), out.end(), node) - out.begin();
    const std::string name(run_.names[index(out.front())]);
    return position == 0 ? name : name + ":" + std::to_string(position);
  }

 private:
  static std::size_t index(std::int32_t i) { return static_cast<std::size_t>(i); }
  const GraphTable::Node& node(std::int32_t i) const { return run_.graph.nodes[index(i)]; }

  void connect(std::size_t k) {
    for (const std::int32_t member : run_.steps[k].nodes) {
      for (const std::int32_t input : node(member).inputs) {
        if (input >= 0) read(k, made(input));
      }
    }
  }
  /// A view computes nothing and is in no step: its value is that of its input.
  std::int32_t made(std::int32_t i) const {
    while (step_of(i) < 0 && node(i).kind != OpKind::source && node(i).inputs[0] >= 0) i = node(i).inputs[0];
    return i;
  }
  void read(std::size_t k, std::int32_t input) {
    const std::vector<std::int32_t>& own = run_.steps[k].nodes;
    if (node(input).op == "constant" || std::find(own.begin(), own.end(), input) != own.end()) return;
    add(inputs_[k], input);
    if (step_of(input) >= 0) add(outputs_[index(step_of(input))], input);
  }
  static void add(std::vector<std::int32_t>& list, std::int32_t i) {
    if (std::find(list.begin(), list.end(), i) == list.end()) list.push_back(i);
  }

  const RunTrace& run_;
  std::vector<std::int32_t> step_of_;
  std::vector<std::vector<std::int32_t>> inputs_, outputs_;
};

}  // namespace crochet::trace
