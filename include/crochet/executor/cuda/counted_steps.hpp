// SPDX-License-Identifier: Apache-2.0
// The global step of a model, counted on the host, so that reading it waits for no device.
#pragma once
#include <cstdint>
#include <optional>

#include <crochet/executor/plan/planned.hpp>

namespace crochet::cuda {

/// How a plan changes the variable global_step.
enum class StepChange : std::uint8_t { none, adds_one, other };

/// T: the tables of the graph, P: the plan.
template <class T, class P>
inline constexpr StepChange step_change = [] {
  const int variable = find_node(T::graph, "global_step");
  const auto g = P::selected.view();
  const Node* const nodes = g.nodes.data();
  StepChange change = StepChange::none;
  for (std::size_t i = 0; variable >= 0 && i < g.nodes.size(); ++i) {
    const Node& n = nodes[i];
    if (n.op->kind != OpKind::assign || nodes[n.inputs[0]].origin != variable) continue;
    const Node& value = nodes[n.inputs[1]];
    const bool adds = value.is(op::add) && nodes[value.inputs[0]].origin == variable &&
                      nodes[value.inputs[0]].is(op::variable) && nodes[value.inputs[1]].is(op::constant) &&
                      nodes[value.inputs[1]].attributes.reals[0] == 1;
    change = adds && change == StepChange::none ? StepChange::adds_one : StepChange::other;
  }
  return change;
}();

/// The global step, as far as the host can count it.
class StepCount {
 public:
  /// The step; empty if the device must be read.
  std::optional<std::int64_t> value() const { return value_; }
  void set(std::int64_t step) { value_ = step; }
  /// The step may have changed otherwise than by a run.
  void forget() { value_.reset(); }
  /// A run of a plan that changes the step so.
  void add(StepChange change) {
    if (change == StepChange::other) value_.reset();
    if (change == StepChange::adds_one && value_) ++*value_;
  }

 private:
  std::optional<std::int64_t> value_;
};

}  // namespace crochet::cuda
