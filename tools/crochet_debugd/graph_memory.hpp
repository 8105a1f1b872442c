// SPDX-License-Identifier: Apache-2.0
// GraphMemory: keeps graphs for the dumps of later runs, since a sender sends its graphs once.
#pragma once

#include <algorithm>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <crochet/debug/event/core_metadata.hpp>
#include <crochet/debug/server/received_graph.hpp>

namespace crochet::debugd {

/// The graphs of one run, one per device.
using Graphs = std::shared_ptr<const std::vector<debug::ReceivedGraph>>;
/// The nodes with tensors in a run, by device.
using DumpedNodes = std::map<std::string, std::set<std::string>>;

/// The identifier of runs with the same graphs: feeds, fetches, targets, and the path of the address.
inline std::string kind_of_run(const debug::CoreMetadata& run, const std::string& grpc_path) {
  std::string kind = grpc_path;
  for (const auto* names : {&run.input_names, &run.output_names, &run.target_nodes}) {
    for (const std::string& name : *names) kind += '\n' + name;
    kind += "\n;";
  }
  return kind;
}

/// Whether each tensor has its node in the graph of its device. Readers reject a dump otherwise.
inline bool holds_all(const std::vector<debug::ReceivedGraph>& graphs, const DumpedNodes& dumped) {
  return std::all_of(dumped.begin(), dumped.end(), [&](const auto& item) {
    const auto& [device, nodes] = item;
    const auto graph =
        std::find_if(graphs.begin(), graphs.end(), [&](const auto& g) { return g.device == item.first; });
    if (graph == graphs.end()) return false;
    const std::set<std::string_view> known(graph->nodes.begin(), graph->nodes.end());
    return std::all_of(nodes.begin(), nodes.end(), [&](const std::string& node) { return known.contains(node); });
  });
}

/// The memory of a graph with its names, in bytes.
inline std::uint64_t memory_of(const debug::ReceivedGraph& graph) {
  constexpr std::uint64_t key_bytes = sizeof(debug::WatchKey), name_bytes = sizeof(std::string);
  // The texts of the names are in the graph, too.
  return sizeof graph + 2 * graph.graph_def.size() + name_bytes * graph.nodes.capacity() +
         key_bytes * graph.gated.capacity();
}

/// The last graphs of each kind of run; the least recently used are dropped. Thread-safe.
class GraphMemory {
 public:
  explicit GraphMemory(std::uint64_t max_bytes = std::uint64_t{256} << 20) : most_(max_bytes) {}

  void remember(const std::string& kind, Graphs graphs) {
    const std::lock_guard lock(mutex_);
    forget(kind);
    const std::uint64_t bytes = size(kind, *graphs);
    if (bytes > most_) return;
    bytes_ += bytes;
    entries_.emplace_front(kind, std::move(graphs));
    while (bytes_ > most_) forget(std::string(entries_.back().first));
  }
  /// Null if there are none.
  Graphs recall(const std::string& kind) {
    const std::lock_guard lock(mutex_);
    const auto at = find(kind);
    if (at == entries_.end()) return nullptr;
    entries_.splice(entries_.begin(), entries_, at);
    return at->second;
  }

 private:
  using Entries = std::list<std::pair<std::string, Graphs>>;

  static std::uint64_t size(const std::string& kind, const std::vector<debug::ReceivedGraph>& graphs) {
    constexpr std::uint64_t entry_bytes = sizeof(Entries::value_type) + 64;  // 64: the objects on the heap
    std::uint64_t bytes = entry_bytes + kind.size();
    for (const auto& graph : graphs) bytes += memory_of(graph);
    return bytes;
  }
  Entries::iterator find(const std::string& kind) {
    return std::find_if(entries_.begin(), entries_.end(), [&](const auto& entry) { return entry.first == kind; });
  }
  void forget(const std::string& kind) {
    const auto at = find(kind);
    if (at == entries_.end()) return;
    bytes_ -= size(at->first, *at->second);
    entries_.erase(at);
  }

  const std::uint64_t most_;
  std::mutex mutex_;
  Entries entries_;  // most recently used first
  std::uint64_t bytes_ = 0;
};

}  // namespace crochet::debugd
