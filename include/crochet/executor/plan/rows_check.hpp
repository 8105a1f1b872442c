// SPDX-License-Identifier: Apache-2.0
// RowsCheck: whether the rows that a plan reads are one dimension, which ranks and shards divide.
#pragma once
#include <cstddef>
#include <string_view>
#include <type_traits>

#include <crochet/base/error.hpp>
#include <crochet/base/instruction_set.hpp>
#include <crochet/base/name.hpp>
#include <crochet/executor/plan/exchanges_of.hpp>
#include <crochet/executor/plan/planned.hpp>
#include <crochet/executor/plan/tables.hpp>

namespace crochet::cpu::CROCHET_ISA {

/// T: the tables of the graph, P: the plan of the demand (Planned).
template <class T, class P>
class RowsCheck {
 public:
  /// The placeholder whose rows are another dimension than those of the first one, if the plan exchanges: a
  /// std::type_identity of a crochet::error.
  static constexpr auto reason() {
    if constexpr (constexpr std::size_t other = ExchangesOf<T, P>::any ? first_other() : none; other == none) {
      return std::type_identity<error::none>{};
    } else {
      constexpr std::string_view name = T::name_of(other);
      return std::type_identity<error::the_rows_of_this_placeholder_are_another_dimension<
          crochet::detail::spelt<Name<FixedString<name.size() + 1>{name}>>>>{};
    }
  }

 private:
  static constexpr std::size_t none = static_cast<std::size_t>(-1);

  static constexpr bool same_symbols(const Extent& a, const Extent& b) {
    for (std::size_t s = 0; s < max_symbols; ++s) {
      if ((a.power(s) > 0) != (b.power(s) > 0)) return false;
    }
    return true;
  }
  static constexpr std::size_t first_other() {
    const Node* first = nullptr;
    for (std::size_t i = 0; i < P::selected.nodes.count; ++i) {
      const Node& n = P::selected.nodes.data()[i];
      if (!ExchangesOf<T, P>::feeds_rows(n)) continue;
      if (first == nullptr) first = &n;
      if (!same_symbols(first->shape[0], n.shape[0])) return static_cast<std::size_t>(n.origin);
    }
    return none;
  }
};

}  // namespace crochet::cpu::CROCHET_ISA
