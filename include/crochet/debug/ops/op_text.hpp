// SPDX-License-Identifier: Apache-2.0
// OpText: parses the text form of a debug operation, `Name(attribute=value;...)`.
#pragma once

#include <charconv>
#include <cstddef>
#include <limits>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <crochet/base/error.hpp>

namespace crochet::debug {

/// The name and the attributes of a debug operation's text. The rules of TensorFlow's parser: no parenthesis, or one
/// pair that ends the text; attributes are separated by `;`; blanks around an attribute and empty attributes are
/// ignored; the first `=` separates name and value, both nonempty. The constructor and the value readers throw
/// LogicError.
class OpText {
 public:
  explicit OpText(std::string_view text) : text_(text) {
    const std::size_t open = text.find('('), close = text.find(')');
    name_ = text.substr(0, open);
    if (name_.empty()) fail("it has no name");
    if (open == std::string_view::npos && close == std::string_view::npos) return;
    if (open == std::string_view::npos || close != text.size() - 1 || close < open) {
      fail("attributes stand in one pair of parentheses, which ends the text: Name(attribute=value;...)");
    }
    split(text.substr(open + 1, close - open - 1));
  }

  [[nodiscard]] std::string_view name() const { return name_; }
  /// Names and values, in the order of the text.
  [[nodiscard]] const std::vector<std::pair<std::string_view, std::string_view>>& attributes() const {
    return attributes_;
  }

  /// Parses `true`, `t`, `1`, `false`, `f` or `0`, case-insensitive.
  [[nodiscard]] bool boolean(std::string_view key, std::string_view value) const {
    std::string small;
    for (const char c : value) small += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    if (small == "true" || small == "t" || small == "1") return true;
    if (small == "false" || small == "f" || small == "0") return false;
    fail("\"" + std::string(key) + "\" is true or false, not \"" + std::string(value) + "\"");
  }
  /// Parses a decimal number, `inf` or `-inf`, within the range of float.
  [[nodiscard]] float number(std::string_view key, std::string_view value) const {
    const std::string_view digits = value.substr(value.starts_with('+') && !value.starts_with("+-") ? 1 : 0);
    float result = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), result);
    if (error == std::errc{} && end == digits.data() + digits.size() && result == result) return result;
    fail("\"" + std::string(key) + "\" is a number, not \"" + std::string(value) + "\"");
  }

  [[noreturn]] void fail(const std::string& why) const {
    throw LogicError("crochet: the debug operation \"" + std::string(text_) + "\": " + why);
  }

 private:
  void split(std::string_view list) {
    while (!list.empty()) {
      const std::size_t end = list.find(';');
      add(trimmed(list.substr(0, end)));
      list = end == std::string_view::npos ? std::string_view{} : list.substr(end + 1);
    }
  }
  void add(std::string_view attribute) {
    if (attribute.empty()) return;
    const std::size_t equals = attribute.find('=');
    if (equals == std::string_view::npos || equals == 0 || equals + 1 == attribute.size()) {
      fail("an attribute is written name=value, not \"" + std::string(attribute) + "\"");
    }
    const std::string_view key = attribute.substr(0, equals);
    for (const auto& [earlier, value] : attributes_) {
      if (earlier == key) fail("\"" + std::string(key) + "\" is there twice");
    }
    attributes_.emplace_back(key, attribute.substr(equals + 1));
  }
  static std::string_view trimmed(std::string_view text) {
    constexpr std::string_view blanks = " \t\n\r\f\v";
    const std::size_t first = text.find_first_not_of(blanks);
    return first == std::string_view::npos ? std::string_view{}
                                           : text.substr(first, text.find_last_not_of(blanks) - first + 1);
  }

  std::string_view text_, name_;
  std::vector<std::pair<std::string_view, std::string_view>> attributes_;
};

}  // namespace crochet::debug
