// SPDX-License-Identifier: Apache-2.0
// The header of a .npy file: a Python dict with element type, order and shape. Parsed without Python, for any bytes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include <crochet/base/config.hpp>
#include <crochet/data/gzip.hpp>

namespace crochet::detail {

/// What the dict says. A text that is no such dict gives `valid == false`.
struct NpyHeader {
  std::string type;  ///< NumPy's spelling: "<f4"
  bool fortran_order = false;
  std::vector<std::int64_t> shape;
  bool valid = false;
};

/// Reads `{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }`: the three keys once each, in any order.
class NpyHeaderParser {
 public:
  explicit NpyHeaderParser(std::string_view text) : rest_(text) {}

  NpyHeader parse() {
    bool good = take('{');
    for (; good && !take('}'); good = good && (take(',') || next_is('}'))) good = entry();
    blanks();
    header_.valid = good && rest_.empty() && has_type_ && has_order_ && has_shape_;
    return header_;
  }

 private:
  static constexpr std::size_t most_dimensions = 64;  // NumPy's own limit

  void blanks() { rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t\r\n"), rest_.size())); }
  bool next_is(char c) {
    blanks();
    return rest_.starts_with(c);
  }
  bool take(char c) {
    const bool there = next_is(c);
    if (there) rest_.remove_prefix(1);
    return there;
  }
  bool take(std::string_view word) {
    blanks();
    const bool there = rest_.starts_with(word);
    if (there) rest_.remove_prefix(word.size());
    return there;
  }
  /// A text in single or double quotes, without escapes.
  bool text(std::string& to) {
    const char quote = take('\'') ? '\'' : take('"') ? '"' : '\0';
    const std::size_t end = quote == '\0' ? std::string_view::npos : rest_.find(quote);
    if (end == std::string_view::npos) return false;
    to = rest_.substr(0, end);
    rest_.remove_prefix(end + 1);
    return to.find('\\') == std::string::npos;
  }
  bool entry() {
    std::string key;
    if (!text(key) || !take(':')) return false;
    if (key == "descr") return first(has_type_) && text(header_.type);
    if (key == "fortran_order") return first(has_order_) && order();
    return key == "shape" && first(has_shape_) && shape();
  }
  static bool first(bool& seen) { return !seen && (seen = true); }
  bool order() {
    header_.fortran_order = take(std::string_view("True"));
    return header_.fortran_order || take(std::string_view("False"));
  }
  bool shape() {
    bool good = take('(');
    for (; good && !take(')'); good = good && (take(',') || next_is(')'))) good = extent();
    return good;
  }
  /// A number that is not negative, also with the L of Python 2.
  bool extent() {
    blanks();
    std::int64_t value = 0;
    std::size_t digits = 0;
    for (; digits < rest_.size() && rest_[digits] >= '0' && rest_[digits] <= '9'; ++digits) {
      if (value > (std::numeric_limits<std::int64_t>::max() - 9) / 10) return false;
      value = 10 * value + (rest_[digits] - '0');
    }
    rest_.remove_prefix(digits);
    if (rest_.starts_with('L')) rest_.remove_prefix(1);
    header_.shape.push_back(value);
    return digits > 0 && header_.shape.size() <= most_dimensions;
  }

  std::string_view rest_;
  NpyHeader header_;
  bool has_type_ = false, has_order_ = false, has_shape_ = false;
};

}  // namespace crochet::detail
