// SPDX-License-Identifier: Apache-2.0
// Whether a class of watches fits any node of a graph.
#pragma once

#include <cstddef>
#include <utility>

#include <crochet/graph/names/node_names.hpp>
#include <crochet/graph/probe/probe_calls.hpp>

namespace crochet::detail {

/// Over the nodes that make a tensor. Compilers limit what one constant may take, so that there is one for each few
/// nodes, and none behind the first node that fits.
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
