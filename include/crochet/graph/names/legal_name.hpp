// SPDX-License-Identifier: Apache-2.0
// The characters of names that TensorFlow's tools show and read: what becomes of the others.
#pragma once

#include <cstddef>
#include <string_view>

namespace crochet::detail {

constexpr bool is_legal_in_a_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
         c == '/' || c == '.';
}
constexpr bool continues_a_character(char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; }  // UTF-8

/// Hands `put(char)` the legal form of a text, piece after piece: a character that is not legal becomes `_`, one `_`
/// for all bytes of it; slashes at the beginning of the first piece are left out.
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
