// SPDX-License-Identifier: Apache-2.0
// RegexError: what is wrong with a pattern.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace crochet::debug {

/// The error of a pattern.
enum class RegexError : std::uint8_t {
  none,
  parenthesis_is_not_closed,
  parenthesis_is_not_opened,
  bracket_is_not_closed,
  range_is_the_wrong_way_round,
  nothing_to_repeat,
  repetition_is_the_wrong_way_round,
  escape_is_not_known,
  group_of_this_kind_is_not_supported,
  pattern_is_too_long,
};

/// The error as text.
constexpr std::string_view text_of(RegexError error) {
  constexpr std::array<std::string_view, 10> texts{
      "nothing",
      "a parenthesis is not closed",
      "a parenthesis is closed that was not opened",
      "a bracket is not closed",
      "a range of characters is the wrong way round",
      "there is nothing to repeat",
      "a repetition's limits are the wrong way round",
      "this escape is not supported; references back and \\b are not",
      "groups of this kind are not supported; ( ), (?: ) and (?P<name> ) are",
      "the pattern is too long",
  };
  return texts[static_cast<std::size_t>(error)];
}

}  // namespace crochet::debug
