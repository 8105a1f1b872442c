// SPDX-License-Identifier: Apache-2.0
// Names in a compile error: in a form that the compiler prints readably, and the nearest existing one.
#pragma once

#include <cstddef>
#include <string_view>
#include <type_traits>
#include <utility>

#include <crochet/base/config.hpp>
#include <crochet/base/error/words.hpp>
#include <crochet/base/name.hpp>

namespace crochet::detail {

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
  static constexpr std::string_view found = closest(N::view(), Candidates);
  static auto type() {
    if constexpr (found.empty()) {
      return std::type_identity<error::no_similar_name>{};
    } else {
      return std::type_identity<error::did_you_mean<spelt<Name<FixedString<found.size() + 1>{found}>>>>{};
    }
  }
};
/// did_you_mean<the candidate nearest to N>, or no_similar_name.
template <class N, const auto& Candidates>
using hint = typename decltype(Hint<N, Candidates>::type())::type;

}  // namespace crochet::detail
