// SPDX-License-Identifier: Apache-2.0
// Probes: observers of a run. A probe sees the graph, the steps of the run, and the tensors that it watches. It is a
// class with any subset of
//   using watches = W;                                             // the nodes whose tensors are shown; absent: none
//   void on_run_begin(const ProbedRun&);                           // before the first step
//   template <std::size_t I> void on_node_begin(int member);       // around each member's part of the step named for
//   template <std::size_t I> void on_node_end(int member);         //   node I, on that member's thread
//   bool takes(std::int32_t node);                                 // whether this run's value of a watched node is to
//                                                                  //   be shown; absent: all are
//   template <std::size_t I> void on_node_end(const ProbedTensor&);  // node I's value is complete
//   void on_device_begin();                                        // on a device: its clock is at 0 now
//   void on_launch_begin();                                        // on a device: around the launch of all steps
//   void on_launch_end();                                          //   together
//   template <std::size_t I> void on_node_device_times(double begin, double end);  // when the device ran the step
//                                                                  //   named for node I, in seconds of that clock
//   void on_run_end();                                             // after the last step, all tensors were shown
// A hook declares it with `using probe = P;` and `P* due_probe()` (docs/writing-hooks.md).
//
// Watches: W has `static constexpr bool matches(std::string_view node, std::string_view op, std::string_view dtype)`.
// It is evaluated at compile time for every node of the demand, with the name in `ProbedRun::node_names`, the operation
// as in GraphOpName, and the element type as in name_of(DType). A matching node's value is stored in memory; all other
// nodes stay fused. The run computes the same as without the probe: watching a node adds nothing to the demand.
//
// Threads: the members of the executor's team call on_node_begin and on_node_end(member), each with its own number (0:
// the thread that called session.run), possibly at the same time. These must neither allocate nor throw. All other
// functions are called by the thread that called session.run. Their exceptions leave session.run: at once before the
// first step, otherwise after the steps; nothing is shown in between. In a run that exchanges with other ranks they
// always leave it after the steps.
//
// Devices: a step is launched, and the thread goes on. on_node_begin and on_node_end(member) are around the launch. If
// each due probe either has on_node_device_times or has neither of these two, and none watches, all steps are one
// launch and these two are not called, except in a run that exchanges with other ranks. The times of steps that run at
// the same time are then those of a part of the device. Only a value that a probe takes is copied to the host; takes()
// is called once for each value, when it is complete. The times on the device are shown before on_run_end. The CPU is
// no device in this sense.
//
// Order: on_run_begin; sources (constants, feeds, variables as of before the step); steps, with each value shown after
// it and the values that it is computed from are complete; assigned values; on_run_end. A run that fails has no
// on_run_end.
#pragma once

#include <string_view>

#include <crochet/graph/probe/probed_outputs.hpp>
#include <crochet/graph/probe/probed_run.hpp>

namespace crochet {

/// Watches every node of the demand. Nothing is fused across nodes, so the run is slower and needs more memory.
struct WatchEverything {
  static constexpr bool matches(std::string_view /*node*/, std::string_view /*op*/, std::string_view /*dtype*/) {
    return true;
  }
};

}  // namespace crochet
