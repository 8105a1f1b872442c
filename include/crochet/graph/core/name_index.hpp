// SPDX-License-Identifier: Apache-2.0
// NameIndex: finds a node by its name.
#pragma once
#include <cstdint>
#include <string_view>

#include <crochet/graph/core/constexpr_vector.hpp>
#include <crochet/graph/core/graph.hpp>

namespace crochet {

namespace detail {
/// A hash index of the names of a graph. Comparing each name with every other would dominate the compile time.
class NameIndex {
 public:
  constexpr NameIndex() {
    for (int& first : first_) first = -1;
  }
  /// The node with that name; -1 if there is none.
  constexpr int find(const Graph& g, std::string_view name) const {
    const std::uint32_t hash = hash_of(name);
    const PooledName* const names = g.names.data();
    const int* const next = next_.data();
    int i = first_[hash % buckets];
    while (i >= 0 && (names[i].hash != hash || g.text_of(names[i]) != name)) i = next[i];
    return i < 0 ? -1 : names[i].node;
  }
  /// Adds the latest name of the graph.
  constexpr void add(const Graph& g) {
    int& first = first_[g.names.back().hash % buckets];
    next_.push_back(first);
    first = static_cast<int>(next_.size()) - 1;
  }

 private:
  static constexpr std::uint32_t buckets = 256;
  int first_[buckets];
  ConstexprVector<int> next_;  ///< by name: the previous one in its bucket
};
}  // namespace detail

}  // namespace crochet
