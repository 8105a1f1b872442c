// SPDX-License-Identifier: Apache-2.0
// Messages made of text and numbers. One function builds all of them: each `+` of strings would add code to every
// program.
#pragma once
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include <crochet/base/config.hpp>

namespace crochet::detail {

/// Text, or a whole number. Does not own the text.
struct MessagePiece {
  std::string_view text;
  std::int64_t number = 0;
  bool is_number = false;

  MessagePiece(std::string_view s) : text(s) {}                 // NOLINT(google-explicit-constructor): text is a piece
  MessagePiece(const char* s) : text(s) {}                      // NOLINT(google-explicit-constructor)
  MessagePiece(const std::string& s) : text(s) {}               // NOLINT(google-explicit-constructor)
  MessagePiece(int n) : number(n), is_number(true) {}           // NOLINT(google-explicit-constructor)
  MessagePiece(std::int64_t n) : number(n), is_number(true) {}  // NOLINT(google-explicit-constructor)
};

/// The pieces concatenated, numbers in decimal.
[[nodiscard]] CROCHET_COLD inline std::string message(std::initializer_list<MessagePiece> pieces) {
  std::string all;
  for (const MessagePiece& piece : pieces) {
    if (piece.is_number) all.append(std::to_string(piece.number));
    all.append(piece.text);
  }
  return all;
}

}  // namespace crochet::detail
