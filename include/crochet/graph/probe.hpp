// SPDX-License-Identifier: Apache-2.0
// What a probe is shown of a run: the graph, the steps that the run is made of, the tensors that it watches. A probe is
// a class with any subset of
//   using watches = W;                                             // which nodes' tensors it wants; absent: none
//   void on_run_begin(const ProbedRun&);                           // before the first step
//   template <std::size_t I> void on_node_begin(int member);       // around each member's part of the step named for
//   template <std::size_t I> void on_node_end(int member);         //   node I, on that member's thread
//   template <std::size_t I> void on_node_end(const ProbedTensor&);  // node I's value is complete
//   void on_run_end();                                             // after the last step, all tensors were shown
// and a hook states it: `using probe = P;` and `P* due_probe()` (docs/writing-hooks.md).
//
// W has `static constexpr bool matches(std::string_view node, std::string_view op, std::string_view dtype)`, asked in
// the compiler for every node of the demand: its name in `ProbedRun::node_names`, its operation as graph_op_name spells
// it, its element type as TensorFlow does. What matches becomes a value in memory, everything else stays fused. A run
// computes what it would compute without the probe: watching pulls in nothing.
//
// Threads: on_node_begin and on_node_end(member) are called by the members of the executor's team, each with its own
// number (0: the thread that called session.run), several at a time; they must neither allocate nor throw. All others
// are called by the thread that called session.run. What they throw leaves session.run once the step is over; nothing
// more is shown then.
// Order: on_run_begin; sources (constants, feeds, variables as they are before the step); steps, each value when it is
// complete and after those it is made of; what assignments have written; on_run_end. A run that fails has no
// on_run_end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include <crochet/graph/dtype.hpp>
#include <crochet/graph/table.hpp>

namespace crochet {

/// A watched value. Valid during the call.
struct ProbedTensor {
  std::int32_t node = -1;               ///< in ProbedRun::graph
  std::int32_t slot = 0;                ///< which output of the node; ours have one
  DType dtype = DType::float32;         ///< of its elements
  std::span<const std::byte> bytes;     ///< the elements, row-major
  std::span<const std::int64_t> shape;  ///< extents in this run; empty: a scalar
};

/// One step: a kernel with what is fused behind it, or one loop. Estimates are at the run's sizes (graph/work.hpp says
/// how operations are counted).
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
  GraphTable graph;                                  ///< the whole model, not only this run's part
  std::span<const std::string_view> node_names;      ///< by node: unique, legal in TensorFlow (graph/node_names.hpp)
  std::span<const ProbedStep> steps;                 ///< in the order in which they run
  int members = 1;                                   ///< threads of the executor's team
  std::int64_t step = 0;                             ///< the global step before the run
  std::span<const std::string_view> caller_fetches;  ///< what the caller of session.run named
  std::span<const std::string_view> caller_targets;
  std::span<const std::string_view> caller_feeds;
  std::span<const std::string_view> fetches;  ///< with what the hooks asked for
  std::span<const std::string_view> targets;
  std::span<const std::string_view> feeds;
  std::size_t variable_bytes = 0;     ///< of all variables
  std::size_t workspace_bytes = 0;    ///< of everything else that the run needs, slots sharing memory
  std::span<const ProbedSlot> slots;  ///< the workspace's plan
};

/// Watches every node of the demand: nothing is fused across, so the run is slower and needs more memory.
struct WatchEverything {
  static constexpr bool matches(std::string_view /*node*/, std::string_view /*op*/, std::string_view /*dtype*/) {
    return true;
  }
};

/// TensorFlow's name of an element type: "float32", "bool".
constexpr std::string_view dtype_name(DType type) {
  constexpr std::string_view names[]{"float32", "float64", "int32", "int64", "uint8", "bool"};
  return names[static_cast<std::size_t>(type)];
}

namespace detail {

/// The types of this header under names that depend on a probe: executors that a session's core brings can call a probe
/// without reading this header. Whoever writes a probe has read it.
template <class P>
struct ProbeTypes {
  using Run = ProbedRun;
  using Tensor = ProbedTensor;
  using Step = ProbedStep;
  using Table = GraphTable;
  using ElementType = DType;
  using Kind = OpKind;
};

}  // namespace detail

}  // namespace crochet
