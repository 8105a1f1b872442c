// SPDX-License-Identifier: Apache-2.0
// Names as Python prints them, for the fetches and feeds files of a dump.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include <crochet/base/hex.hpp>

namespace crochet::debug {

/// `repr` of a text: in single quotes, or in double quotes if the text contains single quotes and no double quotes.
inline std::string python_repr(std::string_view text) {
  const bool only_single = text.find('\'') != std::string_view::npos && text.find('"') == std::string_view::npos;
  const char quote = only_single ? '"' : '\'';
  std::string repr(1, quote);
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\\' || c == quote) {
      (repr += '\\') += c;
    } else if (c == '\n' || c == '\r' || c == '\t') {
      repr += c == '\n' ? "\\n" : c == '\r' ? "\\r" : "\\t";
    } else if (byte < 32 || byte == 127) {
      crochet::detail::append_hex(repr += "\\x", byte);
    } else {
      repr += c;
    }
  }
  return repr += quote;
}

/// `repr` of a list: ['a', 'b'].
inline std::string python_repr(std::span<const std::string> list) {
  std::string repr = "[";
  for (const std::string& text : list) repr += (repr.size() > 1 ? ", " : "") + python_repr(std::string_view(text));
  return repr + "]";
}

/// TensorFlow's text for the feeds of a run: dict_keys(['x:0']), or None without feeds.
inline std::string feed_keys_repr(std::span<const std::string> feeds) {
  return feeds.empty() ? "None" : "dict_keys(" + python_repr(feeds) + ")";
}

}  // namespace crochet::debug
