// SPDX-License-Identifier: Apache-2.0
// What a probe (graph/probe/probe.hpp) is shown: tensors, steps and the run that they are part of.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include <crochet/graph/core/dtype.hpp>
#include <crochet/graph/core/table.hpp>

namespace crochet {

/// A watched value. Valid during the call.
struct ProbedTensor {
  std::int32_t node = -1;               ///< in ProbedRun::graph
  std::int32_t slot = 0;                ///< which output of the node; ours have one
  DType dtype = DType::float32;         ///< of its elements
  std::span<const std::byte> bytes;     ///< the elements, row-major
  std::span<const std::int64_t> shape;  ///< extents in this run; empty: a scalar
};

/// One step: a kernel with what is fused behind it, or one loop. Estimates are at the run's sizes (graph/core/work.hpp
/// says how operations are counted).
struct ProbedStep {
  std::int32_t node = -1;                    ///< the node that it is named for; no two steps of a run have the same
  std::span<const std::int32_t> nodes;       ///< all that it computes, `node` among them, inputs before users
  std::int32_t region = -1;                  ///< the item region that it is part of: members call it slice by slice
  double flops = 0;                          ///< floating-point operations
  double bytes_read = 0, bytes_written = 0;  ///< each value that it touches, once
};

/// A piece of the run's workspace.
struct ProbedSlot {
  std::int64_t bytes = 0;
  std::int32_t first = 0, last = 0;  ///< steps between which it is in use, in ProbedRun::steps
};

/// The run at hand. Valid until on_run_end returns, `graph` and `node_names` for ever.
struct ProbedRun {
  GraphTable graph;                              ///< the whole model, not only this run's part
  std::span<const std::string_view> node_names;  ///< by node: unique, legal in TensorFlow (graph/names/node_names.hpp)
  std::span<const ProbedStep> steps;             ///< in the order in which they run
  int members = 1;                               ///< threads of the executor's team
  std::int64_t step = 0;                         ///< the global step before the run
  std::span<const std::string_view> caller_fetches;  ///< what the caller of session.run named
  std::span<const std::string_view> caller_targets;
  std::span<const std::string_view> caller_feeds;
  std::span<const std::string_view> fetches;  ///< with what the hooks asked for
  std::span<const std::string_view> targets;
  std::span<const std::string_view> feeds;
  std::span<const std::int32_t> fetch_nodes;   ///< the nodes of `fetches`, which may have several names; empty where
  std::span<const std::int32_t> target_nodes;  ///< nodes have one name only
  std::size_t variable_bytes = 0;              ///< of all variables
  std::size_t workspace_bytes = 0;             ///< of everything else that the run needs, slots sharing memory
  std::span<const ProbedSlot> slots;           ///< the workspace's plan
  Dims dims{};  ///< the dynamic dimensions, for the shapes of the graph; 0 where the run does not know them
};

}  // namespace crochet
