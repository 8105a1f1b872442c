// SPDX-License-Identifier: Apache-2.0
// The cells of a CSV text: what separates them, what is quoted, and in which line each row begins.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <crochet/base/config.hpp>
#include <crochet/base/error.hpp>

namespace crochet::detail {

/// Separates a CSV text into cells, one row at a call. Quoted cells are changed in place, so cells are views of the
/// text.
class CsvCells {
 public:
  /// `name` is the file in error messages. The text must outlive this object and the cells.
  CsvCells(std::string& text, char separator, std::string name)
      : text_(&text), separator_(separator), name_(std::move(name)) {
    constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
    if (text.starts_with(byte_order_mark)) at_ = byte_order_mark.size();
  }

  /// Appends the cells of the next line that is not empty to `cells`. False at the end of the text. Throws DataError
  /// for a line that is no CSV.
  bool next_row(std::vector<std::string_view>& cells) {
    while (at_ < text_->size() && line_ends()) skip_line_end();
    if (at_ >= text_->size()) return false;
    row_line_ = line_;
    do cells.push_back(cell());
    while (take_separator());
    return true;
  }

  /// The line in which the last row begins, from 1.
  [[nodiscard]] std::int64_t line() const { return row_line_; }

  /// What follows the last row, and the line in which it begins.
  [[nodiscard]] std::string_view rest() const { return std::string_view(*text_).substr(at_); }
  [[nodiscard]] std::int64_t next_line() const { return line_; }

  /// Bounds of what follows, so that its memory is allocated once.
  [[nodiscard]] std::size_t most_rows() const { return count_behind('\n') + 1; }
  [[nodiscard]] std::size_t most_cells() const { return count_behind(separator_) + most_rows(); }

  /// Throws DataError: "FILE:LINE: cause; cure".
  [[noreturn]] CROCHET_COLD void fail(std::int64_t line, const std::string& what) const {
    throw DataError(name_ + ":" + std::to_string(line) + ": " + what);
  }

 private:
  [[nodiscard]] std::size_t count_behind(char c) const {
    return static_cast<std::size_t>(std::count(text_->begin() + static_cast<std::ptrdiff_t>(at_), text_->end(), c));
  }
  [[nodiscard]] bool is(char c) const { return at_ < text_->size() && (*text_)[at_] == c; }
  /// At "\n" or "\r\n".
  [[nodiscard]] bool line_ends() const {
    return is('\n') || (is('\r') && at_ + 1 < text_->size() && (*text_)[at_ + 1] == '\n');
  }
  void skip_line_end() {
    at_ += is('\r') ? 2U : 1U;
    ++line_;
  }
  /// False, behind the line, if the row ends here.
  bool take_separator() {
    if (is(separator_)) {
      ++at_;
      return true;
    }
    if (at_ < text_->size()) skip_line_end();
    return false;
  }

  std::string_view cell() {
    skip_blanks();
    return is('"') ? quoted_cell() : plain_cell();
  }
  void skip_blanks() {
    while ((is(' ') || is('\t')) && !is(separator_)) ++at_;
  }

  std::string_view plain_cell() {
    const std::size_t begin = at_;
    const char* const last = text_->data() + text_->size();
    const char* next = text_->data() + begin;
    while (next != last && *next != separator_ && *next != '\n' && *next != '\r' && *next != '\0') ++next;
    at_ = static_cast<std::size_t>(next - text_->data());
    if (is('\0')) fail_nul();
    if (is('\r') && !line_ends())
      fail(line_, "a carriage return without a line feed; save the file with lines that end in LF or CR LF");
    std::size_t end = at_;
    while (end > begin && ((*text_)[end - 1] == ' ' || (*text_)[end - 1] == '\t')) --end;
    return {text_->data() + begin, end - begin};
  }

  /// The text between the quotes, each doubled quote as one.
  std::string_view quoted_cell() {
    const std::int64_t opened = line_;
    const std::size_t begin = ++at_;
    std::size_t end = begin;
    for (;; ++at_) {
      if (at_ >= text_->size()) fail(opened, "a quote is opened and not closed; close it, or double quotes in a cell");
      if (is('\0')) fail_nul();
      if (is('"') && (++at_, !is('"'))) break;
      if (is('\n')) ++line_;
      (*text_)[end++] = (*text_)[at_];
    }
    skip_blanks();
    if (at_ < text_->size() && !is(separator_) && !line_ends())
      fail(line_, "text behind a closing quote; double the quotes inside a quoted cell");
    return {text_->data() + begin, end - begin};
  }
  [[noreturn]] CROCHET_COLD void fail_nul() const {
    fail(line_, "a NUL byte; the file is damaged or no UTF-8 text: save it as CSV in UTF-8");
  }

  std::string* text_;
  char separator_;
  std::string name_;
  std::size_t at_ = 0;
  std::int64_t line_ = 1;
  std::int64_t row_line_ = 0;
};

}  // namespace crochet::detail
