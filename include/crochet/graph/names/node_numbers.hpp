// SPDX-License-Identifier: Apache-2.0
// Numbers appended to the names of nodes to make them unique.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include <crochet/graph/core/constexpr_vector.hpp>
#include <crochet/graph/core/table.hpp>
#include <crochet/graph/names/node_name.hpp>

namespace crochet::detail {

/// FNV-1a, 64 bits.
struct NameHash {
  std::uint64_t value = 14695981039346656037U;
  constexpr void operator()(char c) { value = (value ^ static_cast<unsigned char>(c)) * 1099511628211U; }
};

/// Makes all names unique by numbers.
class NodeNumbers {
 public:
  constexpr NodeNumbers(std::span<const GraphTable::Node> nodes, const NodeScope* scopes, NodeName* names)
      : nodes_(nodes.data()),
        count_(nodes.size()),
        scopes_(scopes),
        names_(names),
        mask_(std::bit_ceil(2 * nodes.size() + 1) - 1),
        slots_(mask_ + 1) {}

  /// Named nodes first, because they keep their names.
  constexpr void run() {
    for (std::size_t i = 0; i < count_; ++i) {
      if (!nodes_[i].name.empty()) number(i, {{}, nodes_[i].name, 0});
    }
    for (std::size_t i = 0; i < count_; ++i) {
      if (nodes_[i].name.empty()) number(i, {scopes_[i], nodes_[i].op, 0});
    }
  }

 private:
  /// A name in use. `next`: the least number that may be free for it.
  struct Taken {
    std::uint64_t hash = 0;
    std::int32_t node = -1, next = 1;
  };

  constexpr void number(std::size_t i, const NodeName& wanted) {
    const NameHash plain = hash_of_unnumbered(wanted);
    NodeName name = wanted;
    Taken& first = find(plain.value, name);
    if (first.node >= 0) {
      for (name.number = first.next;; ++name.number) {
        NameHash numbered = plain;
        spell_number(name.number, numbered);
        Taken& slot = find(numbered.value, name);
        if (slot.node >= 0) continue;
        first.next = name.number + 1;
        slot = {numbered.value, static_cast<std::int32_t>(i), 1};
        break;
      }
    } else {
      first = {plain.value, static_cast<std::int32_t>(i), 1};
    }
    names_[i] = name;
  }
  constexpr NameHash hash_of_unnumbered(const NodeName& name) {
    NameHash hash;
    spell_unnumbered(name, hash);
    return hash;
  }

  /// The table slot of a name, or the free slot for it.
  constexpr Taken& find(std::uint64_t hash, const NodeName& name) {
    Taken* const slots = slots_.data();
    std::size_t h = static_cast<std::size_t>(hash >> 20U) & mask_;
    while (slots[h].node >= 0 && !(slots[h].hash == hash && same(names_[slots[h].node], name))) h = (h + 1) & mask_;
    return slots[h];
  }
  static constexpr bool same(const NodeName& a, const NodeName& b) {
    if (a.number == b.number && a.base == b.base && same_parts(a.scope, b.scope)) return true;
    const TextPool x = spelt(a), y = spelt(b);
    return x.view() == y.view();
  }
  static constexpr TextPool spelt(const NodeName& name) {
    TextPool text;
    const auto put = [&](char c) { text.append({&c, 1}); };
    spell_unnumbered(name, put);
    spell_number(name.number, put);
    return text;
  }

  const GraphTable::Node* nodes_;
  std::size_t count_;
  const NodeScope* scopes_;
  NodeName* names_;
  std::size_t mask_;
  ConstexprVector<Taken> slots_;
};

}  // namespace crochet::detail
