// SPDX-License-Identifier: Apache-2.0
// Conversion of names to the characters that TensorFlow's tools accept.
#pragma once

#include <cstddef>
#include <string_view>

namespace crochet::detail {

constexpr bool is_legal_in_a_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
         c == '/' || c == '.';
}
// UTF-8 continuation byte
constexpr bool continues_a_character(char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; }

/// Calls `put(char)` for the legal form of a text, piece by piece. An illegal character becomes one `_`, also if it has
/// several bytes. Leading slashes of the first piece are removed.
template <class Put>
class LegalName {
 public:
  constexpr explicit LegalName(Put& put) : put_(put) {}

  constexpr void add(std::string_view piece) {
    const char* c = piece.data();
    for (std::size_t i = 0; i < piece.size(); ++i) add(c[i]);
  }
  constexpr void add(char c) {
    if (continues_a_character(c) || (begins_ && c == '/')) return;
    begins_ = false;
    put_(is_legal_in_a_name(c) ? c : '_');
  }
  constexpr bool empty() const { return begins_; }

 private:
  Put& put_;
  bool begins_ = true;
};

}  // namespace crochet::detail
