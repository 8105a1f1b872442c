// SPDX-License-Identifier: Apache-2.0
// NodeName: a node's name in parts, and its text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <crochet/base/error.hpp>
#include <crochet/graph/names/legal_name.hpp>
#include <crochet/graph/names/node_scope.hpp>

namespace crochet {

/// A node's name in parts: `scope/base_number`, or `base_number` without a scope. Number 0: no number.
struct NodeName {
  NodeScope scope;
  std::string_view base;
  std::int32_t number = 0;
};

namespace detail {

/// Calls `put` for the legal characters of a name, without its number.
template <class Put>
constexpr void spell_unnumbered(const NodeName& name, Put& put) {
  LegalName legal(put);
  for (std::int32_t p = 0; p < name.scope.count; ++p) {
    legal.add({name.scope.parts[p].text, static_cast<std::size_t>(name.scope.parts[p].length)});
    legal.add('/');
  }
  legal.add(name.base);
  if (legal.empty()) throw LogicError("crochet: the name of a node has no letter that TensorFlow knows; name it");
}
template <class Put>
constexpr void spell_number(std::int32_t number, Put& put) {
  if (number == 0) return;
  put('_');
  std::int32_t digit = 1;
  while (number / digit >= 10) digit *= 10;
  for (; digit > 0; digit /= 10) put(static_cast<char>('0' + number / digit % 10));
}

}  // namespace detail

/// Calls `put(char)` for each character of the name.
template <class Put>
constexpr void spell_node_name(const NodeName& name, Put put) {
  detail::spell_unnumbered(name, put);
  detail::spell_number(name.number, put);
}

}  // namespace crochet
