// SPDX-License-Identifier: Apache-2.0
// Names of nodes, outputs and plans as types: `"loss"_n` is an object of the empty type `Name<"loss">`.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>
#include <type_traits>
#include <utility>

#include <crochet/base/config.hpp>

namespace crochet {

/// A string literal that can be a template argument: `template <FixedString Text> struct Tag;`, used as `Tag<"loss">`.
/// `N` counts the terminating zero.
template <std::size_t N>
struct FixedString {
  constexpr FixedString(
      const char (&literal)[N]) {  // NOLINT(google-explicit-constructor): a literal is meant to convert
    for (std::size_t i = 0; i < N; ++i) text[i] = literal[i];
  }
  /// The `N - 1` characters that start at `from`. For names that are computed at compile time.
  constexpr explicit FixedString(std::string_view from) {
    for (std::size_t i = 0; i + 1 < N; ++i) text[i] = from[i];
  }

  [[nodiscard]] constexpr std::string_view view() const { return {text, N - 1}; }

  friend constexpr bool operator==(const FixedString&, const FixedString&) = default;

  char text[N]{};
};

/// A name. Empty, so it costs nothing to pass; two equal names are the same type.
template <FixedString Text>
struct Name {
  using IsName = Name;
  [[nodiscard]] static constexpr std::string_view view() { return Text.view(); }
};

namespace detail {
/// A Name<...>. nvcc's front end cannot deduce string template arguments, so no specialization for Name<Text> does
/// this.
template <class T>
concept AnyName = std::is_same_v<typename T::IsName, T>;
}  // namespace detail

/// A list of names (of `Name<...>` types).
template <class... N>
struct Names {
  static constexpr std::size_t size = sizeof...(N);
};

inline namespace literals {

/// `"loss"_n` is `Name<"loss">{}`. constexpr, not consteval: clang 14 fails to link the latter in generic lambdas.
template <FixedString Text>
constexpr Name<Text> operator""_n() {
  return {};
}

}  // namespace literals

/// The Levenshtein distance: the smallest number of letters to insert, remove or replace to turn one name into the
/// other. O(|a| |b|) time, O(|b|) memory. Of longer names only the first 63 letters are compared.
constexpr std::size_t edit_distance(std::string_view a, std::string_view b) {
  constexpr std::size_t longest = 63;
  a = a.substr(0, longest);
  b = b.substr(0, longest);
  std::array<std::size_t, longest + 1> row{};
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      const std::size_t one_more = (row[j] < row[j - 1] ? row[j] : row[j - 1]) + 1;
      row[j] = replaced < one_more ? replaced : one_more;
    }
  }
  return row[b.size()];
}

/// The candidate nearest to `name` by edit distance, the first of equally near ones. Empty if none is near: each
/// candidate needs more than `name.size() / 2` edits.
template <class Candidates>
constexpr std::string_view closest(std::string_view name, const Candidates& candidates) {
  std::string_view best;
  std::size_t fewest = name.size() / 2 + 1;
  for (const std::string_view candidate : candidates) {
    const std::size_t edits = edit_distance(name, candidate);
    if (edits < fewest) {
      best = candidate;
      fewest = edits;
    }
  }
  return best;
}

}  // namespace crochet
