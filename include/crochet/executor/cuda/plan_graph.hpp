// SPDX-License-Identifier: Apache-2.0
// PlanGraph: one run of a plan as a graph of one kernel a step.
#pragma once
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <crochet/executor/cuda/plan_source.hpp>
#include <crochet/kernels/cuda/table.hpp>

namespace crochet::cuda {

/// The nodes are the steps of the plan in order; a launch that watches values has one more, which checks them. A node
/// depends on all nodes between the last two barriers before it, and through them on all earlier ones.
class PlanGraph {
 public:
  PlanGraph(const PlanSource& source, bool watches) {
    std::size_t before = 0, phase = 0;  // the first nodes of the last two phases
    for (std::size_t s = 0; s < source.steps.size() + (watches ? 1U : 0U); ++s) {
      const bool barrier = s == source.steps.size() || source.steps[s].barrier;
      if (barrier && s > phase) before = std::exchange(phase, s);
      dependencies_.push_back({before, phase});
    }
  }

  std::size_t size() const { return dependencies_.size(); }
  /// The nodes that `node` depends on: [first, second).
  std::pair<std::size_t, std::size_t> dependencies(std::size_t node) const { return dependencies_[node]; }

  /// The launch of a node, for run number `run` of `all`.
  static Launch node(const Launch& all, int run, std::size_t node, std::size_t steps) {
    Launch launch = all;
    launch.bases += std::int64_t{run} * all.base_count;
    launch.first_run = run;
    launch.times = 1;
    launch.is_node = 1;
    launch.first_step = static_cast<std::int32_t>(node);
    launch.end_step = static_cast<std::int32_t>(node < steps ? node + 1 : node);
    return launch;
  }

 private:
  std::vector<std::pair<std::size_t, std::size_t>> dependencies_;
};

}  // namespace crochet::cuda
