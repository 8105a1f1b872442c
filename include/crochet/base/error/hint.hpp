// SPDX-License-Identifier: Apache-2.0
// Names in a compile error: in a form that the compiler prints readably, and the nearest existing one.
#pragma once

#include <cstddef>
#include <string_view>
#include <type_traits>
#include <utility>

#include <crochet/base/config.hpp>
#include <crochet/base/error/request.hpp>
#include <crochet/base/error/words.hpp>
#include <crochet/base/name.hpp>

namespace crochet::detail {

/// Why an object of type N, which stands in brackets, is no name; error::none if it is one.
template <class N>
using name_reason =
    std::conditional_t<AnyName<N>, error::none,
                       std::conditional_t<std::is_convertible_v<N, std::string_view>,
                                          error::a_text_is_a_name_with_the_suffix_n<N>, error::this_is_no_name<N>>>;

#if CROCHET_NAMES_AS_LETTERS
template <class N, class Indices = std::make_index_sequence<N::view().size()>>
struct Spelt;
template <class N, std::size_t... I>
struct Spelt<N, std::index_sequence<I...>> {
  using type = error::name<N::view()[I]...>;
};
/// The form of a name that the current compiler prints readably.
template <class N>
using spelt = typename Spelt<N>::type;
#else
template <class N>
using spelt = N;
#endif

template <class N, const auto& Candidates>
struct Hint {
  static constexpr std::size_t a_few = 6;
  static constexpr std::string_view found = closest(N::view(), Candidates);
  static auto type() {
    if constexpr (!found.empty()) {
      return std::type_identity<error::did_you_mean<spelt<Named<found>>>>{};
    } else if constexpr (Candidates.size() <= a_few) {
      return all(std::make_index_sequence<Candidates.size()>{});
    } else {
      return std::type_identity<error::no_similar_name>{};
    }
  }

 private:
  template <const std::string_view& Text>
  using Named = Name<FixedString<Text.size() + 1>{Text}>;
  template <std::size_t I>
  static constexpr std::string_view candidate = Candidates[I];
  template <std::size_t... I>
  static auto all(std::index_sequence<I...>) {
    return std::type_identity<error::there_are<spelt<Named<candidate<I>>>...>>{};
  }
};
/// did_you_mean<the candidate nearest to N>, there_are<the candidates> if they are few, or no_similar_name.
template <class N, const auto& Candidates>
using hint = typename decltype(Hint<N, Candidates>::type())::type;

}  // namespace crochet::detail
