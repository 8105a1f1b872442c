// SPDX-License-Identifier: Apache-2.0
// The numeric columns of a CSV text in one pass, without a list of its cells. Most files have plain numbers only.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <crochet/base/config.hpp>
#include <crochet/data/short_number.hpp>
#include <crochet/data/table_column.hpp>

namespace crochet::detail {

inline bool csv_missing(std::string_view cell, const std::vector<std::string>& missing) {
  return std::find(missing.begin(), missing.end(), cell) != missing.end();
}

/// Reads rows of plain cells into columns. It changes no text. It stops at everything that it does not read: quotes,
/// NUL, a single CR, texts, and a row of another length; CsvCells reads these or reports them.
class CsvNumbers {
 public:
  /// `text`: what follows the header, which ends in line `line - 1`.
  CsvNumbers(std::string_view text, std::int64_t line, char separator, const std::vector<std::string>& missing)
      : at_(text.data()), end_(text.data() + text.size()), line_(line), separator_(separator), missing_(&missing) {
    numbers_are_values_ =
        std::none_of(missing.begin(), missing.end(), [](const std::string& one) { return number_in(one).has_value(); });
  }

  /// Fills the numbers of `columns` and the line of each row. False, with any content of them, if the text has to be
  /// read by CsvCells, or if a cell is neither a number nor missing. Not inlined into a caller that is compiled for
  /// size.
  [[gnu::noinline]] bool read(std::vector<TableColumn>& columns, std::vector<std::int64_t>& lines) {
    make_room(columns, lines);
    std::size_t row = 0;
    for (; skip_empty_lines(); ++row) {
      if (row == lines.size()) return false;
      lines[row] = line_;
      if (!short_row(row) && !any_row(row)) return false;
    }
    lines.resize(row);
    for (TableColumn& column : columns) column.numbers.resize(row);
    return true;
  }

 private:
  /// A row of n cells has at least n bytes, with its separators and line end, so a hostile text cannot claim much
  /// memory.
  void make_room(std::vector<TableColumn>& columns, std::vector<std::int64_t>& lines) {
    const auto rows = static_cast<std::size_t>(std::count(at_, end_, '\n')) + 1;
    lines.resize(std::min(rows, static_cast<std::size_t>(end_ - at_) / columns.size() + 1));
    for (TableColumn& column : columns) {
      column.numbers.resize(lines.size());
      to_.push_back(column.numbers.data());
    }
  }
  [[nodiscard]] bool line_ends() const { return *at_ == '\n' || (*at_ == '\r' && end_ - at_ > 1 && at_[1] == '\n'); }
  void skip_line_end() {
    at_ += *at_ == '\r' ? 2 : 1;
    ++line_;
  }
  /// False at the end of the text.
  bool skip_empty_lines() {
    while (at_ != end_ && line_ends()) skip_line_end();
    return at_ != end_;
  }

  /// Reads a row of short numbers; false, without a change of the place, for every other row.
  bool short_row(std::size_t row) {
    if (!numbers_are_values_ || static_cast<std::size_t>(end_ - at_) < 8 * to_.size()) return false;
    const char* next = at_;
    double* const* const last = to_.data() + to_.size() - 1;
    for (double* const* to = to_.data();; ++to) {
      const std::size_t size = short_number(next, (*to)[row]);
      next += size + 1;
      if (size == 0 || next[-1] != (to == last ? '\n' : separator_)) return false;
      if (to == last) break;
    }
    at_ = next;
    ++line_;
    return true;
  }
  bool any_row(std::size_t row) {
    for (double* const& to : to_)
      if (!cell(to[row], &to == &to_.back())) return false;
    return true;
  }
  /// Reads a cell and the separator, or the line end behind the last cell of a row.
  bool cell(double& value, bool last) {
    if (!plain_number(value) && !any_cell(value)) return false;
    if (!last) return at_ != end_ && *at_ == separator_ && (++at_, true);
    if (at_ == end_) return true;
    if (!line_ends()) return false;
    skip_line_end();
    return true;
  }

  /// Reads `-12.5`: at most 15 digits, so that digits and power of ten are exact and their quotient is rounded once, as
  /// std::from_chars does. False, without a change of the place, for everything else.
  bool plain_number(double& value) {
    if (!numbers_are_values_) return false;
    const char* next = at_;
    const bool negative = next != end_ && *next == '-';
    next += negative ? 1 : 0;
    std::uint64_t digits = 0;  // wraps for too many, which are refused
    const char* const first = next;
    next = more_digits(next, digits);
    std::ptrdiff_t count = next - first, fraction = 0;
    if (count == 0) return false;
    if (next != end_ && *next == '.') {
      const char* const point = next++;
      next = more_digits(next, digits);
      fraction = next - point - 1;
      if (fraction == 0) return false;
      count += fraction;
    }
    if (count > most_digits || (next != end_ && *next != separator_ && *next != '\n' && *next != '\r')) return false;
    const double size = static_cast<double>(digits) / power_of_ten[fraction];
    value = negative ? -size : size;
    at_ = next;
    return true;
  }
  /// Behind the digits, of which it reads most_digits + 1 at most.
  const char* more_digits(const char* next, std::uint64_t& digits) const {
    if constexpr (std::endian::native == std::endian::little) {
      if (const int count = few_digits(next, digits); count < 8) return next + count;
    }
    const char* const stop = end_ - next > most_digits + 1 ? next + most_digits + 1 : end_;
    for (; next != stop; ++next) {
      const auto digit = static_cast<unsigned>(*next) - unsigned{'0'};
      if (digit > 9) break;
      digits = 10 * digits + digit;
    }
    return next;
  }
  /// Reads up to 7 digits without a branch for each, and returns their number; 8, without a change, where there are
  /// more or the text ends. (Lemire, "Number Parsing at a Gigabyte per Second", 2021, section 6.)
  int few_digits(const char* next, std::uint64_t& digits) const {
    if (end_ - next < 8) return 8;
    std::uint64_t bytes = 0;
    std::memcpy(&bytes, next, 8);
    bytes ^= 0x3030303030303030U;  // a digit is 0 to 9 now
    const std::uint64_t others = no_digits(bytes);
    const int count = others == 0 ? 8 : std::countr_zero(others) / 8;
    if (count == 0 || count == 8) return count;
    bytes <<= 64 - 8 * count;  // zeros in front
    digits = digits * integer_power_of_ten[count] + of_8_digits(bytes);
    return count;
  }

  /// Reads a cell of any text, without the blanks around it.
  bool any_cell(double& value) {
    while (at_ != end_ && is_blank(*at_)) ++at_;
    const char* const begin = at_;
    while (at_ != end_ && *at_ != separator_ && *at_ != '\n' && *at_ != '\r') {
      if (*at_ == '\0' || *at_ == '"') return false;
      ++at_;
    }
    const char* last = at_;
    while (last != begin && is_blank(last[-1])) --last;
    const std::string_view cell(begin, static_cast<std::size_t>(last - begin));
    const bool missing = csv_missing(cell, *missing_);
    const auto number = missing ? std::numeric_limits<double>::quiet_NaN() : number_in(cell);
    value = number.value_or(0);
    return number.has_value();
  }
  [[nodiscard]] bool is_blank(char c) const { return (c == ' ' || c == '\t') && c != separator_; }

  static constexpr std::ptrdiff_t most_digits = 15;
  static constexpr double power_of_ten[] = {1e0, 1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                            1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};

  static constexpr std::uint64_t integer_power_of_ten[] = {1, 10, 100, 1000, 10'000, 100'000, 1'000'000, 10'000'000};

  const char* at_;
  const char* end_;
  std::int64_t line_;
  char separator_;
  const std::vector<std::string>* missing_;
  bool numbers_are_values_ = true;
  std::vector<double*> to_;  // the numbers of each column
};

}  // namespace crochet::detail
