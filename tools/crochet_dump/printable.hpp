// SPDX-License-Identifier: Apache-2.0
// Terminal-safe text from files: a name in a dump may contain a terminal's control sequence.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <crochet/base/hex.hpp>

namespace crochet_dump {

namespace detail {

/// The character at `at`, and its number of bytes; 0 bytes if it is invalid UTF-8.
struct Character {
  std::uint32_t value = 0;
  std::size_t bytes = 0;
};
inline Character character_at(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
  const std::uint8_t first = byte(at);
  if (first < 0x80) return {first, 1};
  const std::size_t bytes = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || at + bytes > text.size()) return {};
  std::uint32_t value = first & (0x7fu >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(at + i) & 0xc0) != 0x80) return {};
    value = value << 6 | (byte(at + i) & 0x3fu);
  }
  const bool overlong = (bytes == 3 && value < 0x800) || (bytes == 4 && value < 0x10000);
  if (overlong || value > 0x10ffff || (value >= 0xd800 && value < 0xe000)) return {};
  return {value, bytes};
}

/// Control characters, and those that change the direction of text.
constexpr bool is_harmful(std::uint32_t c) {
  return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x61c || c == 0x200e || c == 0x200f ||
         (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
}

inline void append_escaped(std::string& to, std::string_view bytes) {
  for (const char c : bytes) crochet::detail::append_hex(to += "\\x", static_cast<unsigned char>(c));
}

}  // namespace detail

/// The beginning of a text, of at most `most` bytes, without a part of a character at its end.
inline std::string_view whole_characters(std::string_view text, std::size_t most) {
  std::size_t end = std::min(most, text.size());
  const auto continues = [&] { return end < text.size() && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80; };
  for (int i = 0; i < 3 && end > 0 && continues(); ++i) --end;
  return text.substr(0, end);
}

/// The text with `\xNN` for every byte of a control character, of a character that changes the direction of text, and
/// of invalid UTF-8.
inline std::string printable(std::string_view text) {
  std::string safe;
  for (std::size_t at = 0; at < text.size();) {
    const detail::Character character = detail::character_at(text, at);
    const std::size_t bytes = character.bytes == 0 ? 1 : character.bytes;
    if (character.bytes == 0 || detail::is_harmful(character.value)) {
      detail::append_escaped(safe, text.substr(at, bytes));
    } else {
      safe += text.substr(at, bytes);
    }
    at += bytes;
  }
  return safe;
}

/// The text as UTF-8. If it is not UTF-8: with `\xNN` for every byte that is not, and each backslash doubled.
inline std::string utf8_text(std::string_view text) {
  std::string escaped;
  bool valid = true;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t bytes = detail::character_at(text, at).bytes;
    valid = valid && bytes > 0;
    if (bytes == 0) detail::append_escaped(escaped, text.substr(at, 1));
    if (text[at] == '\\') escaped += '\\';
    escaped += text.substr(at, bytes);
    at += std::max<std::size_t>(bytes, 1);
  }
  return valid ? std::string(text) : escaped;
}

/// As Python prints bytes: b'ab\x00'.
inline std::string python_bytes(std::string_view text) {
  const char quote = text.find('\'') != text.npos && text.find('"') == text.npos ? '"' : '\'';
  std::string out{'b', quote};
  for (const char c : text) {
    if (c == quote || c == '\\') {
      out += {'\\', c};
    } else if (c == '\t' || c == '\n' || c == '\r') {
      out += {'\\', c == '\t' ? 't' : c == '\n' ? 'n' : 'r'};
    } else if (c < 0x20 || c > 0x7e) {
      detail::append_escaped(out, {&c, 1});
    } else {
      out += c;
    }
  }
  return out + quote;
}

}  // namespace crochet_dump
