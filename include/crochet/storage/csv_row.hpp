// SPDX-License-Identifier: Apache-2.0
// Rows of comma-separated values (RFC 4180), with LF as the line end.
#pragma once

#include <charconv>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

namespace crochet::io {

/// A field in the form of RFC 4180: quoted, with quotes doubled, if it contains a comma, a quote or a line end.
inline std::string csv_field(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string quoted = "\"";
  for (const char c : text) quoted.append(c == '"' ? 2 : 1, c);
  return quoted + '"';
}

/// A row that begins with a step; a row format for RowLogger.
class CsvRow {
 public:
  /// How each row begins: with any number.
  static constexpr std::string_view start{};
  /// Whether a value cannot have this name.
  static constexpr bool reserves(std::string_view /*name*/) { return false; }

  /// "step,loss,accuracy".
  template <class... Text>
  static std::string first_line(Text... name) {
    std::string line = "step";
    ((line += ',', line += csv_field(name)), ...);
    return line;
  }

  explicit CsvRow(std::int64_t step) : line_(std::to_string(step)) {}

  /// Numbers are written in the shortest form that is read back without loss, in every locale: 0.1, 1e-08, nan, inf;
  /// bool as 0 and 1.
  template <class T>
  void add(std::string_view /*name*/, T value) {
    static_assert(std::is_arithmetic_v<T>, "crochet: CsvLogger writes scalars");
    char buffer[64];
    line_ += ',';
    if constexpr (std::is_same_v<T, bool>) {
      line_ += value ? '1' : '0';
    } else {
      if constexpr (std::is_floating_point_v<T>) value = std::isnan(value) ? std::abs(value) : value;  // not -nan
      line_.append(buffer, std::to_chars(buffer, buffer + sizeof buffer, value).ptr);
    }
  }
  [[nodiscard]] const std::string& text() const { return line_; }

  static std::optional<std::int64_t> step_of(std::string_view line) {
    std::int64_t step = 0;
    const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), step);
    const bool whole = end == line.data() + line.size() || *end == ',';
    return error == std::errc{} && whole ? std::optional{step} : std::nullopt;
  }

 private:
  std::string line_;
};

}  // namespace crochet::io
