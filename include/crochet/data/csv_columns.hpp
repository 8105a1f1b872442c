// SPDX-License-Identifier: Apache-2.0
// The columns of a CSV text in one pass, without a list of its cells.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <crochet/base/config.hpp>
#include <crochet/data/csv_options.hpp>
#include <crochet/data/csv_scanner.hpp>
#include <crochet/data/short_number.hpp>
#include <crochet/data/table_column.hpp>
#include <crochet/data/text_index.hpp>

namespace crochet::detail {

/// Reads rows into columns. A column is numeric until a cell is neither a number nor missing. Changes no text. Stops at
/// everything that it does not read, which csv_body.hpp reads or reports: a line end in quotes, a quote that is not
/// closed, NUL, a single CR, a row of another length.
class CsvColumns {
 public:
  /// `columns` have their names, and `numeric` is false for those that are read as texts from the first row on. `line`
  /// is the first below the header.
  CsvColumns(std::vector<TableColumn> columns, std::int64_t line, const CsvOptions& options)
      : options_(&options), scan_{.separator = options.separator, .line = line}, columns_(std::move(columns)) {
    for (const TableColumn& column : columns_) {
      texts_.emplace_back();
      if (!column.numeric) texts_.back().emplace(options.missing);
    }
    // A number is read up to its first foreign character: neither the separator nor a missing value may be a part of
    // one.
    numbers_are_values_ = options.separator != '.' && options.separator != '-' && options.separator != '+' &&
                          std::none_of(options.missing.begin(), options.missing.end(),
                                       [](const std::string& one) { return number_in(one).has_value(); });
  }

  /// Appends the rows of whole lines. False, for good, if it stops. Not inlined into a caller that is compiled for
  /// size.
  [[gnu::noinline]] bool append(std::string_view text) {
    scan_.start(text);
    make_room();
    for (; scan_.skip_empty_lines(); ++row_) {
      if (row_ == lines_.size()) return false;
      lines_[row_] = scan_.line;
      if (!short_row() && !any_row()) return false;
    }
    resize(row_);
    return true;
  }

  /// After append() was false: the column that holds a text behind numbers, whose texts are gone. Read the text again,
  /// with this column not numeric.
  [[nodiscard]] std::optional<std::size_t> text_behind_numbers() const { return text_behind_numbers_; }

  [[nodiscard]] std::size_t rows() const { return row_; }
  /// Memory for this many rows. Untouched, it takes no time.
  void reserve(std::size_t rows) {
    lines_.reserve(rows);
    for (TableColumn& column : columns_) column.numeric ? column.numbers.reserve(rows) : column.indices.reserve(rows);
  }

  /// The columns and the line of each row.
  [[nodiscard]] std::pair<std::vector<TableColumn>, std::vector<std::int64_t>> finish() && {
    for (std::size_t c = 0; c < columns_.size(); ++c)
      if (texts_[c]) std::move(*texts_[c]).finish(columns_[c]);
    return {std::move(columns_), std::move(lines_)};
  }

 private:
  /// A row of n cells has at least n bytes, with its separators and line end, so a hostile text cannot claim much
  /// memory.
  void make_room() {
    const auto rows = static_cast<std::size_t>(std::count(scan_.at, scan_.end, '\n')) + 1;
    resize(row_ + std::min(rows, static_cast<std::size_t>(scan_.end - scan_.at) / columns_.size() + 1));
    to_.clear();
    for (TableColumn& column : columns_) to_.push_back(column.numeric ? column.numbers.data() : nullptr);
  }
  void resize(std::size_t rows) {
    lines_.resize(rows);
    for (TableColumn& column : columns_) column.numeric ? column.numbers.resize(rows) : column.indices.resize(rows);
  }

  /// Reads a row of short numbers, and texts in columns of them; false, without a change of the place, for every other
  /// row.
  bool short_row() {
    if (!numbers_are_values_) return false;
    const char* const begin = scan_.at;
    const char* next = scan_.at;
    double* const* const last = to_.data() + to_.size() - 1;
    for (double* const* to = to_.data(); next = short_cell(next, to), next != nullptr; ++to) {
      const bool ends = to == last;
      if (*next++ != (ends ? '\n' : scan_.separator)) break;
      if (!ends) continue;
      scan_.at = next;
      ++scan_.line;
      return true;
    }
    scan_.at = begin;
    return false;
  }
  /// The end of a cell in the text, or null.
  const char* short_cell(const char* from, double* const* to) {
    if (scan_.end - from < 9) return nullptr;
    if (*to == nullptr) {
      scan_.at = from;
      return any_cell(static_cast<std::size_t>(to - to_.data())) && scan_.at != scan_.end ? scan_.at : nullptr;
    }
    const std::size_t size = short_number(from, (*to)[row_]);
    return size == 0 ? nullptr : from + size;
  }
  bool any_row() {
    for (std::size_t c = 0; c < columns_.size(); ++c)
      if ((!number(c) && !any_cell(c)) || !scan_.end_of_cell(c + 1 == columns_.size())) return false;
    return true;
  }
  bool number(std::size_t c) { return to_[c] != nullptr && numbers_are_values_ && scan_.number(to_[c][row_]); }
  bool any_cell(std::size_t c) {
    const auto cell = scan_.cell();
    return cell && store(c, *cell);
  }
  bool store(std::size_t c, std::string_view cell) {
    TableColumn& column = columns_[c];
    if (column.numeric) {
      const bool missing = csv_missing(cell, *options_);
      const auto value = missing ? std::numeric_limits<double>::quiet_NaN() : number_in(cell);
      if (value) column.numbers[row_] = *value;
      if (value || !begin_texts(c)) return value.has_value();
    }
    column.indices[row_] = (*texts_[c])(cell);
    return true;
  }
  /// Makes a column without a number one of texts.
  CROCHET_COLD bool begin_texts(std::size_t c) {
    TableColumn& column = columns_[c];
    const auto end = column.numbers.begin() + static_cast<std::ptrdiff_t>(row_);
    if (!std::all_of(column.numbers.begin(), end, [](double value) { return std::isnan(value); })) {
      text_behind_numbers_ = c;
      return false;
    }
    column.numeric = false;
    column.numbers = {};
    to_[c] = nullptr;
    column.indices.assign(lines_.size(), -1);
    texts_[c].emplace(options_->missing);
    return true;
  }

  const CsvOptions* options_;
  CsvScanner scan_;
  std::size_t row_ = 0;
  std::vector<TableColumn> columns_;
  std::vector<std::int64_t> lines_;
  std::vector<std::optional<TextIndex>> texts_;  // of each column
  std::vector<double*> to_;                      // the numbers of each column; null: texts
  bool numbers_are_values_ = true;
  std::optional<std::size_t> text_behind_numbers_;
};

}  // namespace crochet::detail
