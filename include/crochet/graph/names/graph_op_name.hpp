// SPDX-License-Identifier: Apache-2.0
// GraphOpName: the name of an operation in a GraphDef.
#pragma once

#include <cstddef>
#include <string_view>

namespace crochet {

/// An operation's name in GraphDef style: `reduce_mean` becomes `ReduceMean`, `conv2d` `Conv2D`. Sources and products
/// have TensorFlow's names.
class GraphOpName {
 public:
  constexpr explicit GraphOpName(std::string_view op) {
    constexpr std::string_view known[][2] = {{"variable", "VariableV2"},
                                             {"constant", "Const"},
                                             {"group", "NoOp"},
                                             {"matmul", "MatMul"},
                                             {"batched_matmul", "BatchMatMul"}};
    for (const auto& spelt : known) {
      if (op == spelt[0]) {
        copy(spelt[1]);
        return;
      }
    }
    bool begins = true;
    for (const char c : op) {
      if (c != '_') put(begins && c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c);
      begins = c == '_' || c == '2';  // for "2D"
    }
  }
  constexpr std::string_view view() const { return {text_, size_}; }

 private:
  static constexpr std::size_t room = 64;
  constexpr void copy(std::string_view text) {
    for (const char c : text) put(c);
  }
  constexpr void put(char c) {
    if (size_ < room) text_[size_++] = c;
  }

  char text_[room]{};
  std::size_t size_ = 0;
};

}  // namespace crochet
