// SPDX-License-Identifier: Apache-2.0
// Characters of texts in UTF-8.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <crochet/base/hex.hpp>

namespace crochet::detail {

/// The number of bytes of the UTF-8 character at the start of `text`, which is not empty; 0 if it is not valid.
constexpr std::size_t utf8_length(std::string_view text) {
  const auto at = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = at(0);
  if (lead < 0x80) return 1;
  const std::size_t size = lead >= 0xc2 && lead < 0xe0   ? 2
                           : lead >= 0xe0 && lead < 0xf0 ? 3
                           : lead >= 0xf0 && lead < 0xf5 ? 4
                                                         : 0;
  if (size == 0 || text.size() < size) return 0;
  for (std::size_t i = 1; i < size; ++i) {
    if ((at(i) & 0xc0) != 0x80) return 0;
  }
  const bool too_long = (lead == 0xe0 && at(1) < 0xa0) || (lead == 0xf0 && at(1) < 0x90);
  const bool surrogate = lead == 0xed && at(1) >= 0xa0, too_large = lead == 0xf4 && at(1) >= 0x90;
  return too_long || surrogate || too_large ? 0 : size;
}

/// Takes the first character of `text`, which is not empty. A byte that is no valid UTF-8 is U+FFFD.
constexpr char32_t take_character(std::string_view& text) {
  const std::size_t size = utf8_length(text);
  const auto bits = [&](std::size_t i, unsigned mask) { return static_cast<unsigned char>(text[i]) & mask; };
  char32_t character = size == 0 ? U'\xfffd' : size == 1 ? bits(0, 0x7f) : bits(0, 0x7fU >> size);
  for (std::size_t i = 1; i < size; ++i) character = character << 6 | bits(i, 0x3f);
  text.remove_prefix(size == 0 ? 1 : size);
  return character;
}

/// The text with each byte that is no valid UTF-8 replaced by '?'.
inline std::string valid_utf8(std::string text) {
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t size = utf8_length(std::string_view(text).substr(i));
    if (size == 0) text[i] = '?';
    i += size == 0 ? 1 : size;
  }
  return text;
}

/// Appends a character, at most U+10FFFF.
inline void append_character(std::string& text, char32_t character) {
  const auto byte = [&](char32_t bits) { text += static_cast<char>(static_cast<unsigned char>(bits)); };
  if (character < 0x80) return byte(character);
  if (character < 0x800) {
    byte(0xc0 | character >> 6);
  } else if (character < 0x10000) {
    byte(0xe0 | character >> 12);
    byte(0x80 | (character >> 6 & 0x3f));
  } else {
    byte(0xf0 | character >> 18);
    byte(0x80 | (character >> 12 & 0x3f));
    byte(0x80 | (character >> 6 & 0x3f));
  }
  byte(0x80 | (character & 0x3f));
}

/// A character for messages: 'x', or U+001b for a control character.
inline std::string character_text(char32_t character) {
  std::string text;
  if (character >= 0x20 && (character < 0x7f || character > 0x9f)) {
    append_character(text += '\'', character);
    return text += '\'';
  }
  append_hex(text += "U+00", static_cast<unsigned char>(character));
  return text;
}

}  // namespace crochet::detail
