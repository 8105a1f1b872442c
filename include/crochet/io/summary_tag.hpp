// SPDX-License-Identifier: Apache-2.0
// Tags of summaries: the names that TensorBoard shows, made of the characters that it can.
#pragma once

#include <string>
#include <string_view>

#include <crochet/error.hpp>

namespace crochet::io {

namespace detail {
constexpr bool may_be_in_a_tag(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
         c == '/' || c == '.';
}
constexpr bool continues_a_character(char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; }  // UTF-8
}  // namespace detail

/// The tag of that name: every character other than ASCII letters, digits, `_`, `-`, `/` and `.` becomes `_`, leading
/// `/` are left out: "train loss" -> "train_loss". The original keeps other languages' letters at first and refuses
/// them later. Throws LogicError if nothing is left.
inline std::string summary_tag(std::string_view name) {
  std::string tag;
  for (const char c : name) {
    if (!detail::continues_a_character(c)) tag += detail::may_be_in_a_tag(c) ? c : '_';
  }
  tag.erase(0, tag.find_first_not_of('/'));
  if (tag.empty()) throw LogicError("crochet: \"" + std::string(name) + "\" leaves no name for a summary; name it");
  return tag;
}

}  // namespace crochet::io
