// SPDX-License-Identifier: Apache-2.0
// StreamedRun: the beginning of a run, as a debug stream takes it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <crochet/debug/event/core_metadata.hpp>

namespace crochet::debug {

/// The graph of a device, as it is sent to the server.
struct StreamedGraph {
  std::string device;                             ///< contains no `,` or `|`
  std::shared_ptr<const std::string> serialized;  ///< a GraphDef with the debug nodes of the watches
};

/// The beginning of a run.
struct StreamedRun {
  CoreMetadata metadata{};
  std::int64_t microseconds = 0;  ///< since 1970
  std::uint64_t combination = 0;  ///< of feeds, fetches, targets, graph and watches; graphs are sent for a new one
  std::vector<StreamedGraph> graphs{};
};

}  // namespace crochet::debug
