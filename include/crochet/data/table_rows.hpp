// SPDX-License-Identifier: Apache-2.0
// The functions of Table that are no templates: columns by name, rows without missing values, and the error messages.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <crochet/base/config.hpp>
#include <crochet/base/error.hpp>
#include <crochet/base/name.hpp>
#include <crochet/data/shared_array.hpp>
#include <crochet/data/table.hpp>
#include <crochet/data/table_column.hpp>

namespace crochet {

namespace detail {

[[noreturn]] CROCHET_COLD inline void fail_no_column(const std::string& file, const std::vector<TableColumn>& columns,
                                                     std::string_view name) {
  std::vector<std::string_view> names;
  names.reserve(columns.size());
  for (const TableColumn& column : columns) names.emplace_back(column.name);
  const std::string_view near = closest(name, names);
  const std::string text = file + ": there is no column " + cell_text(name);
  if (!near.empty()) throw DataError(text + "; did you mean " + cell_text(near) + "?");
  constexpr std::size_t a_few = 8;
  std::string there;
  for (std::size_t i = 0; i < names.size() && i < a_few; ++i) there += (i == 0 ? "" : ", ") + cell_text(names[i]);
  if (names.size() > a_few) there += " and " + std::to_string(names.size() - a_few) + " more";
  throw DataError(text + "; there are: " + there +
                  (names.size() == 1 ? "; if that is a whole line, set CsvOptions::separator" : ""));
}

}  // namespace detail

CROCHET_COLD inline void Table::fail(std::size_t row, const TableColumn& column, const std::string& what) const {
  throw DataError(name_ + ":" + std::to_string(lines_[row]) + ": column " + column.name + ": " + what);
}
CROCHET_COLD inline void Table::fail_missing(std::size_t row, const TableColumn& column, bool as_text) const {
  fail(row, column,
       as_text ? "the text is missing; call drop_missing<\"" + column.name + "\">() or fill_missing<\"" + column.name +
                     "\">(text) first"
               : "the value is missing; call drop_missing() or fill_missing(value) first");
}

inline const TableColumn& Table::find(std::string_view name) const {
  for (const TableColumn& column : columns_)
    if (column.name == name) return column;
  detail::fail_no_column(name_, columns_, name);
}

inline const TableColumn& Table::numeric(std::string_view name) const {
  const TableColumn& column = find(name);
  if (column.numeric) return column;
  for (std::size_t row = 0; row < lines_.size(); ++row) {
    const std::int32_t index = column.indices[row];
    if (index < 0) continue;
    const std::string& text = column.texts[static_cast<std::size_t>(index)];
    if (detail::number_in(text)) continue;
    fail(row, column,
         detail::cell_text(text) + " is no number; correct it, add it to CsvOptions::missing, or use categories()");
  }
  throw DataError(name_ + ": column " + column.name +
                  ": it was read as texts, because CsvOptions::texts has its name or a row that is dropped holds no "
                  "number; remove the name, or correct that row, or add its text to CsvOptions::missing");
}

inline const TableColumn& Table::of_texts(std::string_view name) const {
  const TableColumn& column = find(name);
  if (!column.may_be_texts())
    throw DataError(name_ + ": column " + column.name +
                    ": it holds numbers, not texts; use columns<>() or column<std::int32_t>(), or add its name to "
                    "CsvOptions::texts");
  return column;
}

inline Categories Table::categories(std::string_view name, std::vector<std::string> names) const {
  const TableColumn& column = of_texts(name);
  std::unordered_map<std::string_view, std::int32_t> positions;
  for (std::size_t i = 0; i < names.size(); ++i) positions.try_emplace(names[i], static_cast<std::int32_t>(i));
  std::vector<std::int32_t> position(column.texts.size(), -1);  // of each text in `names`
  for (std::size_t i = 0; i < position.size(); ++i)
    if (const auto found = positions.find(column.texts[i]); found != positions.end()) position[i] = found->second;
  std::vector<std::int32_t> indices(lines_.size());
  for (std::size_t row = 0; row < indices.size(); ++row) {
    if (column.missing(row)) fail_missing(row, column, true);
    const auto text = static_cast<std::size_t>(column.indices[row]);
    indices[row] = position[text];
    if (indices[row] < 0)
      fail(row, column, detail::cell_text(column.texts[text]) + " is none of the given categories; add it to them");
  }
  return {{std::move(indices), {rows()}}, std::move(names)};
}

inline std::vector<bool> Table::chosen(const std::vector<std::string_view>& names) const {
  std::vector<bool> chosen(columns_.size(), names.empty());
  for (const std::string_view name : names) chosen[static_cast<std::size_t>(&find(name) - columns_.data())] = true;
  return chosen;
}

inline Table Table::without_missing(const std::vector<bool>& chosen) const {
  std::vector<std::size_t> kept;
  for (std::size_t row = 0; row < lines_.size(); ++row) {
    bool whole = true;
    for (std::size_t i = 0; i < columns_.size(); ++i) whole = whole && !(chosen[i] && columns_[i].missing(row));
    if (whole) kept.push_back(row);
  }
  if (kept.empty())
    throw DataError(name_ +
                    ": each row has a missing value; call fill_missing(value), or name the columns that matter");
  Table table{name_, {}, {}};
  for (const std::size_t row : kept) table.lines_.push_back(lines_[row]);
  for (const TableColumn& column : columns_) {
    TableColumn part{.name = column.name, .numeric = column.numeric, .texts = column.texts};
    for (const std::size_t row : kept) {
      if (column.numeric) part.numbers.push_back(column.numbers[row]);
      if (!column.numeric) part.indices.push_back(column.indices[row]);
    }
    part.drop_unused_texts();
    table.columns_.push_back(std::move(part));
  }
  return table;
}

inline Table Table::filled(const std::vector<bool>& chosen, double value) const {
  Table table = *this;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    TableColumn& column = table.columns_[i];
    if (!chosen[i] || !column.numeric) continue;
    for (std::size_t row = 0; row < lines_.size(); ++row)
      if (column.missing(row)) column.numbers[row] = value;
  }
  return table;
}

inline Table Table::filled(const std::vector<bool>& chosen, std::string_view text) const {
  Table table = *this;
  for (std::size_t i = 0; i < columns_.size(); ++i)
    if (chosen[i]) table.columns_[i].fill(text);
  return table;
}

}  // namespace crochet
