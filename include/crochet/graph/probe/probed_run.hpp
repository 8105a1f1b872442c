// SPDX-License-Identifier: Apache-2.0
// The arguments of probes (graph/probe/probe.hpp): tensors, steps and the run.
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
  std::int32_t slot = 0;                ///< the index of the node's output; always 0 here
  DType dtype = DType::float32;         ///< of its elements
  std::span<const std::byte> bytes;     ///< the elements, row-major
  std::span<const std::int64_t> shape;  ///< extents in this run; empty: a scalar
};

/// One step: a kernel with fused operations, or one loop. Estimates are for the run's sizes (see graph/core/work.hpp
/// for the counting of operations).
struct ProbedStep {
  std::int32_t node = -1;                    ///< the node that names it; no two steps of a run have the same
  std::span<const std::int32_t> nodes;       ///< all nodes that it computes, including `node`; inputs before users
  std::int32_t region = -1;                  ///< the item region that contains it: members run it slice by slice
  double flops = 0;                          ///< floating-point operations
  double bytes_read = 0, bytes_written = 0;  ///< each accessed value counts once
};

/// A slot of the run's workspace.
struct ProbedSlot {
  std::int64_t bytes = 0;
  std::int32_t first = 0, last = 0;  ///< the steps between which it is in use, as indices into ProbedRun::steps
};

/// The device that runs the steps.
struct ProbedDevice {
  std::string_view name;  ///< for example "NVIDIA H200, sm_90"; empty: the CPU
  int number = 0;         ///< among the devices of its kind
  int task = -1;          ///< the rank of its process, of several; -1: a session on one machine
};

/// The current run. Valid until on_run_end returns; `graph` and `node_names` are valid forever.
struct ProbedRun {
  GraphTable graph;                              ///< the whole model, not only the part of this run
  std::span<const std::string_view> node_names;  ///< by node: unique, legal in TensorFlow (graph/names/node_names.hpp)
  std::span<const ProbedStep> steps;             ///< in execution order
  int members = 1;                               ///< the number of threads of the run
  ProbedDevice device;
  std::int64_t step = 0;                             ///< the global step before the run
  std::span<const std::string_view> caller_fetches;  ///< fetched by the caller of session.run
  std::span<const std::string_view> caller_targets;
  std::span<const std::string_view> caller_feeds;
  std::span<const std::string_view> fetches;  ///< including the hooks' requests
  std::span<const std::string_view> targets;
  std::span<const std::string_view> feeds;
  std::span<const std::int32_t> fetch_nodes;   ///< by element of `fetches`: its node; empty if nodes have one name only
  std::span<const std::int32_t> target_nodes;  ///< as fetch_nodes, for `targets`
  std::size_t variable_bytes = 0;              ///< of all variables
  std::size_t workspace_bytes = 0;             ///< everything else that the run needs; slots share memory
  std::span<const ProbedSlot> slots;           ///< the plan of the workspace
  Dims dims{};  ///< the dynamic dimensions, for the shapes of the graph; 0: unknown in this run
};

}  // namespace crochet
