// SPDX-License-Identifier: Apache-2.0
// FeedCheck: what a plan lacks if a run feeds certain placeholders.
#pragma once
#include <array>
#include <cstddef>
#include <string_view>
#include <type_traits>

#include <crochet/base/error.hpp>
#include <crochet/base/instruction_set.hpp>
#include <crochet/base/name.hpp>
#include <crochet/executor/plan/planned.hpp>

namespace crochet::cpu::CROCHET_ISA {

/// T: the tables of the graph, P: the plan of the demand (Planned).
template <class T, class P>
class FeedCheck {
 public:
  /// The input that the plan lacks if these names are fed: a std::type_identity of a crochet::error.
  template <class... N>
  static constexpr auto reason(Names<N...>) {
    constexpr std::size_t unfed = first_unfed<N...>();
    if constexpr (unfed < T::feedable.size()) {
      return std::type_identity<error::needs_a_placeholder_that_nobody_feeds<spelt_at<T::feedable, unfed>>>{};
    } else {
      constexpr std::size_t unknown = first_unknown<N...>();
      if constexpr (unknown < T::symbols.size()) {
        return std::type_identity<
            error::needs_the_size_of_a_dimension_that_no_feed_has<spelt_at<T::symbols, unknown>>>{};
      } else {
        return std::type_identity<error::none>{};
      }
    }
  }

 private:
  template <const auto& Table, std::size_t I>
  using spelt_at = crochet::detail::spelt<Name<FixedString<Table[I].size() + 1>{Table[I]}>>;

  /// The index in `feedable` of a placeholder that the plan reads and that is not fed.
  template <class... N>
  static constexpr std::size_t first_unfed() {
    for (const Value& v : P::plan.values) {
      if (v.space != AddressSpace::placeholder) continue;
      const std::string_view name = T::name_of(static_cast<std::size_t>(v.index));
      if (!((N::view() == name) || ...)) return crochet::detail::index_of_name(name, T::feedable);
    }
    return T::feedable.size();
  }

  /// The index in `symbols` of a dynamic dimension of the plan that no fed placeholder has.
  template <class... N>
  static constexpr std::size_t first_unknown() {
    std::array<bool, max_symbols> known{}, used{};
    const auto mark = [](std::array<bool, max_symbols>& marks, const Shape& shape) {
      for (std::size_t i = 0; i < shape.rank; ++i) {
        for (std::size_t s = 0; s < max_symbols; ++s) marks[s] = marks[s] || shape[i].power(s) > 0;
      }
    };
    (mark(known, T::template node<N>().shape), ...);
    for (std::size_t v = 0; v < P::plan.value_count; ++v) {
      if (P::plan.values[v].space == AddressSpace::arena) mark(used, P::plan.values[v].shape);
    }
    for (std::size_t k = 0; k < P::plan.step_count; ++k) {
      const Step& step = P::plan.steps[k];
      for (std::size_t s = 0; s < max_symbols; ++s) {
        used[s] = used[s] || (step.root == &op::count && step.attributes.ints[s] > 0);
      }
    }
    for (std::size_t s = 0; s < T::symbols.size(); ++s) {
      if (used[s] && !known[s]) return s;
    }
    return T::symbols.size();
  }
};

}  // namespace crochet::cpu::CROCHET_ISA
