// SPDX-License-Identifier: Apache-2.0
// Operations on parameter packs of any length. clang allows at most 256 operands in a fold expression, and recursion
// costs compile time quadratic in the length.
#pragma once

#include <array>
#include <cstddef>
#include <initializer_list>
#include <type_traits>
#include <utility>

#include <crochet/hook/run_args.hpp>

namespace crochet::detail {

/// Whether at least one value is true: `any({is_empty<H>...})`.
constexpr bool any(std::initializer_list<bool> values) {
  for (const bool value : values) {
    if (value) return true;
  }
  return false;
}

/// The index of the first true value; the number of values if there is none.
constexpr std::size_t first_of(std::initializer_list<bool> values) {
  std::size_t index = 0;
  for (const bool value : values) {
    if (value) return index;
    ++index;
  }
  return index;
}

template <std::size_t Count, std::size_t N>
constexpr std::array<std::size_t, Count> marked_indices(const std::array<bool, N>& marked) {
  std::array<std::size_t, Count> indices{};
  std::size_t next = 0;
  for (std::size_t i = 0; i < N; ++i) {
    if (marked[i]) indices[next++] = i;
  }
  return indices;
}
template <std::size_t N>
constexpr std::size_t count_marked(const std::array<bool, N>& marked) {
  std::size_t count = 0;
  for (const bool mark : marked) count += mark ? 1 : 0;
  return count;
}

template <std::size_t I, class T>
struct Indexed {};
template <class Indices, class... T>
struct IndexedPack;
template <std::size_t... I, class... T>
struct IndexedPack<std::index_sequence<I...>, T...> : Indexed<I, T>... {};
template <std::size_t I, class T>
std::type_identity<T> indexed_type(const Indexed<I, T>*);
/// The type at position I of a pack.
template <std::size_t I, class... T>
using type_at = typename decltype(indexed_type<I>(
    static_cast<const IndexedPack<std::index_sequence_for<T...>, T...>*>(nullptr)))::type;

template <class Where, class... T>
class Filtered {
  template <std::size_t... J>
  static List<type_at<Where::indices[J], T...>...> list(std::index_sequence<J...>);

 public:
  using type = decltype(list(std::make_index_sequence<Where::indices.size()>{}));
};
/// A mask of the selected positions of a pack.
template <bool... Wanted>
struct Where {
  static constexpr std::array<bool, sizeof...(Wanted)> marked{Wanted...};
  static constexpr auto indices = marked_indices<count_marked(marked)>(marked);
};
/// The types of a pack at the positions that `W`, a Where, selects: a List.
template <class W, class... T>
using filtered = typename Filtered<W, T...>::type;

}  // namespace crochet::detail
