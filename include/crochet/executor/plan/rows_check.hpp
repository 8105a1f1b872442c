// SPDX-License-Identifier: Apache-2.0
// RowsCheck: whether the rows that a plan reads are one dimension, which ranks and shards divide.
#pragma once
#include <cstddef>
#include <string_view>
#include <type_traits>

#include <crochet/base/error.hpp>
#include <crochet/base/name.hpp>
#include <crochet/executor/plan/exchanges_of.hpp>
#include <crochet/executor/plan/planned.hpp>
#include <crochet/executor/plan/tables.hpp>

namespace crochet::cpu {

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

  static constexpr bool has_rows(const Value& v) {
    return v.space == AddressSpace::placeholder && v.shape.rank > 0 && !v.shape[0].is_static();
  }
  static constexpr bool same_symbols(const Extent& a, const Extent& b) {
    for (std::size_t s = 0; s < max_symbols; ++s) {
      if ((a.power(s) > 0) != (b.power(s) > 0)) return false;
    }
    return true;
  }
  static constexpr std::size_t first_other() {
    const Value* first = nullptr;
    for (const Value& v : P::plan.values) {
      if (!has_rows(v)) continue;
      if (first == nullptr) first = &v;
      if (!same_symbols(first->shape[0], v.shape[0])) return static_cast<std::size_t>(v.index);
    }
    return none;
  }
};

}  // namespace crochet::cpu
