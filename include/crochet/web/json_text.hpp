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
#include <crochet/base/utf8.hpp>

namespace crochet::web {

/// Appends a JSON string. Control characters, quotes, `<`, `>` and `&` are escaped; each invalid byte of UTF-8 becomes
/// U+FFFD.
inline void append_json(std::string& out, std::string_view text) {
  out += '"';
  while (!text.empty()) {
    const std::size_t size = detail::utf8_length(text);
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
