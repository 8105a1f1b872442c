// SPDX-License-Identifier: Apache-2.0
// Whether a class of watches matches any node of a graph.
#pragma once

#include <cstddef>
#include <utility>

#include <crochet/graph/names/node_names.hpp>
#include <crochet/graph/probe/probe_calls.hpp>

namespace crochet::detail {

/// Tests the nodes that have a tensor. Compilers limit the steps of one constant expression, so a constant covers a few
/// nodes only, and none is evaluated past the first match.
template <const auto& Nodes, class W>
struct WatchFits {
 private:
  static constexpr std::size_t some = 64;

  template <std::size_t First>
  static constexpr bool part = [] {
    for (std::size_t i = First; i < Nodes.size() && i < First + some; ++i) {
      const GraphTable::Node& node = Nodes[i];
      if (!node.has_tensor || node.kind == OpKind::group) continue;
      if (watch_matches<W>(NodeNames<Nodes>::of(i), node)) return true;
    }
    return false;
  }();
  template <std::size_t First>
  static constexpr bool from() {
    if constexpr (First >= Nodes.size()) {
      return false;
    } else if constexpr (part<First>) {
      return true;
    } else {
      return from<First + some>();
    }
  }

 public:
  static constexpr bool any = from<0>();
};

}  // namespace crochet::detail
