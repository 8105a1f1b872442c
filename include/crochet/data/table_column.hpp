// SPDX-License-Identifier: Apache-2.0
// TableColumn: the cells of one column of a table, as numbers or as texts.
#pragma once

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <utility>
#include <vector>

#include <crochet/base/config.hpp>

namespace crochet {

/// A column: either numbers or texts. Its name is unique in the table.
struct TableColumn {
  std::string name;
  bool numeric = true;
  std::vector<double> numbers{};        ///< of a numeric column; NaN: missing
  std::vector<std::int32_t> indices{};  ///< of a text column, into `texts`; -1: missing
  std::vector<std::string> texts{};     ///< the different texts, in alphabetical order

  [[nodiscard]] bool missing(std::size_t row) const { return numeric ? std::isnan(numbers[row]) : indices[row] < 0; }
  /// Removes the texts that no row has.
  void drop_unused_texts() {
    std::vector<std::int32_t> positions(texts.size(), -1);
    for (const std::int32_t index : indices)
      if (index >= 0) positions[static_cast<std::size_t>(index)] = 0;
    std::size_t used = 0;
    for (std::size_t i = 0; i < texts.size(); ++i) {
      if (positions[i] < 0) continue;
      positions[i] = static_cast<std::int32_t>(used);
      if (used != i) texts[used] = std::move(texts[i]);
      ++used;
    }
    texts.resize(used);
    for (std::int32_t& index : indices)
      if (index >= 0) index = positions[static_cast<std::size_t>(index)];
  }
  /// False for a column with a number. One without any value was read as numeric, and may be one of texts.
  [[nodiscard]] bool may_be_texts() const {
    return !numeric || std::all_of(numbers.begin(), numbers.end(), [](double value) { return std::isnan(value); });
  }
  /// Puts the text in place of the missing ones. Requires may_be_texts().
  void fill(std::string_view text) {
    if (numeric) indices.assign(numbers.size(), -1);
    numeric = false;
    numbers = {};
    const auto at = std::lower_bound(texts.begin(), texts.end(), text);
    const auto position = static_cast<std::int32_t>(at - texts.begin());
    const bool is_new = at == texts.end() || *at != text;
    if (is_new) texts.emplace(at, text);
    for (std::int32_t& index : indices) {
      if (index < 0) {
        index = position;
      } else if (is_new && index >= position) {
        ++index;
      }
    }
  }
};

namespace detail {

/// Whether a number in decimal that is out of the range of a double is too small, and not too large. Its order of
/// magnitude: the place of its first digit that is no 0, and the exponent.
CROCHET_COLD inline bool is_below_all_doubles(std::string_view cell) {
  const std::size_t e = cell.find_first_of("eE");
  const std::string_view digits = cell.substr(0, e);
  std::string_view exponent = e == cell.npos ? "" : cell.substr(e + 1);
  const bool is_negative = exponent.starts_with('-');
  exponent.remove_prefix(std::min(exponent.find_first_of("123456789"), exponent.size()));
  const std::size_t point = std::min(digits.find('.'), digits.size()), first = digits.find_first_of("123456789");
  if (exponent.size() > 9) return is_negative;
  std::int64_t power = 0;
  std::from_chars(exponent.data(), exponent.data() + exponent.size(), power);
  if (is_negative) power = -power;
  return power + static_cast<std::int64_t>(point) - static_cast<std::int64_t>(first) < 0;
}

/// The finite number that a cell holds, or empty: `-1.5`, `+2`, `1e-3`; 0 for one nearer to it than every other double.
/// Independent of the locale.
inline std::optional<double> number_in(std::string_view cell) {
  if (cell.size() > 1 && cell[0] == '+' && cell[1] != '-') cell.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  if (end != cell.data() + cell.size() || !std::isfinite(value)) return std::nullopt;
  if (error == std::errc::result_out_of_range && is_below_all_doubles(cell)) return cell[0] == '-' ? -0.0 : 0.0;
  return error == std::errc{} ? std::optional(value) : std::nullopt;
}

/// True if a T can hold the value of a cell exactly; a float, rounded. From 2^53 on a double has no number for each
/// integer, so that the cell may have had another one.
template <class T>
bool holds(double value) {
  using Limits = std::numeric_limits<T>;
  if constexpr (std::is_floating_point_v<T>) {
    // From here on a float is infinite.
    return std::abs(value) < (sizeof(T) == 4 ? 0x1.ffffffp127 : std::numeric_limits<double>::infinity());
  } else {
    return std::trunc(value) == value && std::abs(value) < 0x1p53 && value >= static_cast<double>(Limits::min()) &&
           value <= static_cast<double>(Limits::max());
  }
}

/// "int32".
template <class T>
constexpr std::string_view element_name() {
  if constexpr (std::is_floating_point_v<T>) {
    return sizeof(T) == 4 ? "float" : "double";
  } else {
    return std::is_unsigned_v<T> ? "uint8" : sizeof(T) == 4 ? "int32" : "int64";
  }
}

/// A cell for an error message: in quotation marks, at most 40 bytes, control characters as '?'.
CROCHET_COLD inline std::string cell_text(std::string_view cell) {
  constexpr std::size_t longest = 40;
  std::string text = "\"";
  for (const char c : cell.substr(0, longest)) text += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '?' : c;
  return text + (cell.size() > longest ? "...\"" : "\"");
}

/// A number in the shortest form that reads back without loss.
CROCHET_COLD inline std::string number_text(double value) {
  char buffer[32];
  return {buffer, std::to_chars(buffer, buffer + sizeof buffer, value).ptr};
}

}  // namespace detail

}  // namespace crochet
