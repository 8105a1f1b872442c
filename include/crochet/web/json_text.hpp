// SPDX-License-Identifier: Apache-2.0
// Writes JSON from texts and numbers that are not trusted.
#pragma once

#include <charconv>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <crochet/base/hex.hpp>

namespace crochet::web {

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

/// Appends a JSON string. Control characters, quotes, `<`, `>` and `&` are escaped; each invalid byte of UTF-8 becomes
/// U+FFFD.
inline void append_json(std::string& out, std::string_view text) {
  out += '"';
  while (!text.empty()) {
    const std::size_t size = utf8_length(text);
    const char c = text[0];
    const bool special =
        static_cast<unsigned char>(c) < 0x20 || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&' || c == 0x7f;
    if (size == 0) {
      out += "\\ufffd";
    } else if (size == 1 && special) {
      detail::append_hex(out += "\\u00", static_cast<unsigned char>(c));
    } else {
      out += text.substr(0, size);
    }
    text.remove_prefix(size == 0 ? 1 : size);
  }
  out += '"';
}

/// Appends a number in its shortest lossless form. Infinities and NaNs become null, since JSON has no such numbers.
template <class T>
requires std::integral<T> || std::floating_point<T>
void append_json(std::string& out, T number) {
  if constexpr (std::floating_point<T>) {
    if (!std::isfinite(number)) {
      out += "null";
      return;
    }
  }
  char buffer[64];
  const auto done = std::to_chars(buffer, buffer + sizeof buffer, number);
  out.append(buffer, done.ptr);
}

}  // namespace crochet::web
