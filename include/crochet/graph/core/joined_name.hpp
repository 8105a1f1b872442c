// SPDX-License-Identifier: Apache-2.0
// joined_name: names made of parts, for layers of your own and for layers in a loop.
#pragma once
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <crochet/graph/core/text_pool.hpp>

namespace crochet {

/// A part of a name: a text, or a whole number.
template <class T>
concept NamePart = std::convertible_to<const T&, std::string_view> ||
    (std::integral<T> && !std::same_as<T, bool> && !std::same_as<T, char>);

namespace detail {
template <NamePart T>
constexpr void append_part(TextPool& text, const T& part) {
  if constexpr (std::integral<T>) {
    char digits[20];  // from the right
    std::size_t begin = sizeof digits;
    std::uint64_t rest = static_cast<std::uint64_t>(part);
    if (part < 0) {
      text.append("-");
      rest = 0 - rest;
    }
    do {
      digits[--begin] = static_cast<char>('0' + rest % 10);
      rest /= 10;
    } while (rest != 0);
    text.append({digits + begin, sizeof digits - begin});
  } else {
    text.append(part);
  }
}
}  // namespace detail

/// The parts, one after the other, as a name: `dense(x, 32, joined_name("block_", i, "/up"))`.
/// - The result converts to std::string_view. That view is valid as long as the result.
/// - A std::string is no replacement: in a model it does not compile with clang 14 and the library of g++ 12.
template <NamePart... Part>
constexpr TextPool joined_name(const Part&... parts) {
  TextPool name;
  (detail::append_part(name, parts), ...);
  return name;
}

}  // namespace crochet
