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
// the compiler for every node of the demand: its name in `ProbedRun::node_names`, its operation as a GraphOpName spells
// it, its element type as name_of(DType) does. What matches becomes a value in memory, everything else stays fused. A
// run computes what it would compute without the probe: watching pulls in nothing.
//
// Threads: on_node_begin and on_node_end(member) are called by the members of the executor's team, each with its own
// number (0: the thread that called session.run), several at a time; they must neither allocate nor throw. All others
// are called by the thread that called session.run. What they throw leaves session.run:
// at once before the first step, later when the steps are over; nothing more is shown then.
// Order: on_run_begin; sources (constants, feeds, variables as they are before the step); steps, each value when it is
// complete and after those it is made of; what assignments have written; on_run_end. A run that fails has no
// on_run_end.
#pragma once

#include <string_view>

#include <crochet/graph/probe/probed_outputs.hpp>
#include <crochet/graph/probe/probed_run.hpp>

namespace crochet {

/// Watches every node of the demand: nothing is fused across, so the run is slower and needs more memory.
struct WatchEverything {
  static constexpr bool matches(std::string_view /*node*/, std::string_view /*op*/, std::string_view /*dtype*/) {
    return true;
  }
};

}  // namespace crochet
