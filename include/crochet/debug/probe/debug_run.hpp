// SPDX-License-Identifier: Apache-2.0
// DebugRun: everything published for a run except its tensors; Publisher: the destination.
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
  std::uint64_t combination = 0;  ///< equal for runs with the same fetches, feeds, targets, graph and watches
  std::int64_t microseconds = 0;  ///< start of the run, since 1970, UTC; every firing is later
  std::vector<std::string> caller_fetches{};  ///< names given by the caller of the run, targets included
  std::vector<std::string> caller_feeds{};
};

/// The destination of the events of debugged runs: files or a server.
template <class P>
concept Publisher = requires(P& publisher, const DebugRun& run, const DebugEvent& debug_event, const DebugOp& op) {
  publisher.urls(std::int64_t{});  // the debug_urls of the graph's debug nodes, for a run that begins at this time
  publisher.begin_run(run);        // with its graph and metadata
  publisher.wants(debug_event.node, debug_event.slot, op);  // bool, before each operation is evaluated; false skips it
  publisher.publish(debug_event);                           // one tensor; its memory is valid during the call
  publisher.end_run();                                      // after the last tensor; not called if the run fails
};

}  // namespace crochet::debug
