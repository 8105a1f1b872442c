// SPDX-License-Identifier: Apache-2.0
// Checks of the names that a step function declares: each is declared once, and no others are used.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>
#include <type_traits>
#include <utility>

#include <crochet/base/error.hpp>
#include <crochet/base/name.hpp>
#include <crochet/hook/pack.hpp>
#include <crochet/hook/run_args.hpp>

namespace crochet::detail {

template <std::size_t N>
constexpr bool contains(const std::array<std::string_view, N>& names, std::string_view name) {
  for (const std::string_view known : names) {
    if (known == name) return true;
  }
  return false;
}

/// All declarations of one kind: outputs, inputs or variables.
template <class... P>
struct Declared {
  static constexpr std::array<std::string_view, sizeof...(P)> names{P::name::view()...};

  /// Whether the name at this position also occurs at an earlier one.
  static constexpr bool repeats(std::size_t position) {
    for (std::size_t i = 0; i < position; ++i) {
      if (names[i] == names[position]) return true;
    }
    return false;
  }
  template <std::size_t... I>
  static auto distinct(std::index_sequence<I...>) -> filtered<Where<!repeats(I)...>, P...>;
  template <std::size_t... I>
  static auto repeated(std::index_sequence<I...>) -> filtered<Where<repeats(I)...>, P...>;
};

template <class L>
struct DeclaredIn;
template <class... P>
struct DeclaredIn<List<P...>> : Declared<P...> {};

/// A List of declarations without repeated names.
template <class L>
using distinct_names = decltype(DeclaredIn<L>::distinct(std::make_index_sequence<DeclaredIn<L>::names.size()>{}));
template <class L>
using repeated_names = decltype(DeclaredIn<L>::repeated(std::make_index_sequence<DeclaredIn<L>::names.size()>{}));

/// The error for a List of repeated names.
template <class L>
struct RepetitionReason {
  using type = error::none;
};
template <class P, class... More>
struct RepetitionReason<List<P, More...>> {
  using type = error::a_step_function_declares_this_name_twice<spelt<typename P::name>>;
};

/// Reports an error once per program, although a step function is compiled for several demands.
template <class Reason>
constexpr void judge() {
  static_assert(call_is_usable<Reason>, "crochet: crochet::error says why");
}

/// Replaces an output that does not exist, so that no further errors follow.
struct NoOutput {
  template <class U>
  constexpr void operator=(U&&) const {}  // NOLINT(misc-unconventional-assign-operator): nothing to chain
};

}  // namespace crochet::detail
