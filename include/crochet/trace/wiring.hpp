// SPDX-License-Identifier: Apache-2.0
// The data flow between the steps of a run. Steps are fused groups of nodes, so it differs from the graph's edges:
// values inside a group are not inputs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <crochet/trace/run_trace.hpp>

namespace crochet::trace {

/// Inputs and outputs of each step, as TensorFlow's tensor names: `node`, and `node:1`, `node:2` for a group's outputs
/// besides the value of its name. Constants are omitted.
class Wiring {
 public:
  explicit Wiring(const RunTrace& run);

  /// The nodes whose values the step outputs: the one of its name, then others that a step reads.
  [[nodiscard]] const std::vector<std::int32_t>& outputs(std::size_t step) const { return outputs_[step]; }
  /// The nodes whose values it reads, each once: outputs of other steps, feeds, variables.
  [[nodiscard]] const std::vector<std::int32_t>& inputs(std::size_t step) const { return inputs_[step]; }
  /// The step that computes a node's value; -1 for a source.
  [[nodiscard]] std::int32_t step_of(std::int32_t node) const { return step_of_[index(node)]; }
  /// The name of a node's value.
  [[nodiscard]] std::string tensor(std::int32_t node) const;

 private:
  static std::size_t index(std::int32_t i) { return static_cast<std::size_t>(i); }
  const GraphTable::Node& node(std::int32_t i) const { return run_.graph.nodes[index(i)]; }

  void connect(std::size_t k);
  /// A view computes nothing and is in no step: its value is that of its input.
  std::int32_t made(std::int32_t i) const;
  void read(std::size_t k, std::int32_t input);
  static void add(std::vector<std::int32_t>& list, std::int32_t i);

  const RunTrace& run_;
  std::vector<std::int32_t> step_of_;
  std::vector<std::vector<std::int32_t>> inputs_, outputs_;
};

}  // namespace crochet::trace

#ifdef CROCHET_HEADER_ONLY
#include <crochet/trace/wiring.ipp>
#endif
