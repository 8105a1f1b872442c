// SPDX-License-Identifier: Apache-2.0
// CsvScanner: the cells and line ends of a CSV text, which it does not change.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <crochet/data/plain_number.hpp>
#include <crochet/data/short_number.hpp>

namespace crochet::detail {

/// A place in a CSV text. Reads no line end in quotes, no NUL and no single CR; csv_cells.hpp reads or reports them.
struct CsvScanner {
  char separator;
  std::int64_t line;          ///< of the place
  const char* at = nullptr;   ///< the place
  const char* end = nullptr;  ///< of the text
  std::string unquoted{};     ///< a cell with doubled quotes, without them

  void start(std::string_view text) {
    at = text.data();
    end = text.data() + text.size();
  }

  [[nodiscard]] bool line_ends() const { return *at == '\n' || (*at == '\r' && end - at > 1 && at[1] == '\n'); }
  void skip_line_end() {
    at += *at == '\r' ? 2 : 1;
    ++line;
  }
  /// False at the end of the text.
  bool skip_empty_lines() {
    while (at != end && line_ends()) skip_line_end();
    return at != end;
  }

  /// Reads the separator, or the line end behind the last cell of a row.
  bool end_of_cell(bool last) {
    if (!last) return at != end && *at == separator && (++at, true);
    if (at == end) return true;
    if (!line_ends()) return false;
    skip_line_end();
    return true;
  }
  [[nodiscard]] bool ends_cell(char c) const { return c == separator || c == '\n' || c == '\r'; }
  [[nodiscard]] bool is_blank(char c) const { return (c == ' ' || c == '\t') && c != separator; }
  void skip_blanks() {
    while (at != end && is_blank(*at)) ++at;
  }

  /// Reads a number without blanks, quotes and exponent; false, without a change of the place, for all else.
  bool number(double& value) {
    const char* next = end - at < 9 ? nullptr : at + short_number(at, value);
    if (next == nullptr || next == at || !ends_cell(*next)) next = plain_number(at, end, value);
    if (next == nullptr || (next != end && !ends_cell(*next))) return false;
    at = next;
    return true;
  }

  /// A cell without the blanks around it and without its quotes, valid until the next call; the place is behind it. No
  /// value for what is not read.
  std::optional<std::string_view> cell() {
    skip_blanks();
    return at != end && *at == '"' ? quoted_cell() : plain_cell();
  }

  std::optional<std::string_view> plain_cell() {
    const char* const begin = at;
    for (; at != end && !ends_cell(*at); ++at)
      if (*at == '\0') return std::nullopt;
    const char* last = at;
    while (last != begin && is_blank(last[-1])) --last;
    return std::string_view(begin, static_cast<std::size_t>(last - begin));
  }
  /// The text between the quotes, each doubled quote as one; behind the blanks after it.
  std::optional<std::string_view> quoted_cell() {
    unquoted.clear();
    const char* begin = ++at;
    for (;; ++at) {
      if (at == end || *at == '\n' || *at == '\0') return std::nullopt;
      if (*at != '"') continue;
      if (end - at == 1 || at[1] != '"') break;
      unquoted.append(begin, ++at);
      begin = at + 1;
    }
    std::string_view cell(begin, static_cast<std::size_t>(at - begin));
    if (!unquoted.empty()) cell = unquoted.append(cell);
    ++at;
    skip_blanks();
    return cell;
  }
};

}  // namespace crochet::detail
