// SPDX-License-Identifier: Apache-2.0
// DebugRun: all that is published of a run besides its tensors.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <crochet/debug/event/core_metadata.hpp>
#include <crochet/debug/event/debug_graph.hpp>
#include <crochet/debug/ops/debug_op.hpp>
#include <crochet/debug/ops/tensor.hpp>

namespace crochet::debug {

/// A run that is about to begin.
struct DebugRun {
  CoreMetadata metadata{};
  std::string device{};
  std::shared_ptr<DebugGraph> graph{};
  std::uint64_t combination = 0;  ///< the same for runs with the same fetches, feeds, targets, graph and watches
  std::int64_t microseconds = 0;  ///< when it begins; every firing is later
  std::vector<std::string> caller_fetches{};  ///< as the caller of the run named them, targets among them
  std::vector<std::string> caller_feeds{};
};

/// Where the events of debugged runs go: files, or a server.
template <class P>
concept Publisher = requires(P& publisher, const DebugRun& run, const DebugEvent& debug_event, const DebugOp& op) {
  publisher.urls(std::int64_t{});  // of the run that begins at this time: what the graph's debug nodes name
  publisher.begin_run(run);        // its graph and metadata
  publisher.wants(debug_event.node, debug_event.slot, op);  // bool: asked before an operation is evaluated
  publisher.publish(debug_event);                           // one tensor; its memory is valid during the call
  publisher.end_run();                                      // all tensors were published. Not called if the run fails
};

}  // namespace crochet::debug
