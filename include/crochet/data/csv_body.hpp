// SPDX-License-Identifier: Apache-2.0
// A table from a CSV text of any form, by a list of its cells. Reports what is wrong with a text.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <crochet/base/config.hpp>
#include <crochet/base/error.hpp>
#include <crochet/data/csv_cells.hpp>
#include <crochet/data/csv_options.hpp>
#include <crochet/data/table.hpp>
#include <crochet/data/table_column.hpp>

namespace crochet::detail {

/// The names of the first line. Throws DataError for a missing line, and for empty and equal names.
CROCHET_COLD inline std::vector<TableColumn> csv_header(CsvCells& cells, const std::string& name) {
  std::vector<std::string_view> header;
  if (!cells.next_row(header)) throw DataError(name + ": it is empty; the first line has the names of the columns");
  std::vector<TableColumn> columns;
  columns.reserve(header.size());
  for (const std::string_view title : header) {
    if (title.empty())
      cells.fail(cells.line(), "column " + std::to_string(columns.size() + 1) + " has no name; name each column");
    columns.push_back({.name = std::string(title)});
  }
  std::sort(header.begin(), header.end());
  const auto twice = std::adjacent_find(header.begin(), header.end());
  if (twice != header.end())
    cells.fail(cells.line(), "two columns have the name " + cell_text(*twice) + "; rename one of them");
  return columns;
}

/// The columns of the first line; those of CsvOptions::texts are not numeric. Throws DataError, as csv_header() does,
/// and for a name of `texts` that the first line does not have.
CROCHET_COLD inline std::vector<TableColumn> columns_of_header(CsvCells& cells, const std::string& name,
                                                               const CsvOptions& options) {
  std::vector<TableColumn> columns = csv_header(cells, name);
  for (const std::string& text : options.texts) {
    const auto found = std::find_if(columns.begin(), columns.end(), [&](const auto& c) { return c.name == text; });
    if (found == columns.end()) fail_no_column(name, columns, text);
    found->numeric = false;
  }
  return columns;
}

/// Every cell below the first line, row by row, and the line of each row.
struct CsvBody {
  std::vector<std::string_view> cells;
  std::vector<std::int64_t> lines;
};
CROCHET_COLD inline CsvBody csv_body(CsvCells& from, std::size_t columns, const std::string& name) {
  CsvBody body;
  body.cells.reserve(from.most_cells());
  body.lines.reserve(from.most_rows());
  while (from.next_row(body.cells)) {
    body.lines.push_back(from.line());
    const std::size_t count = body.cells.size() - (body.lines.size() - 1) * columns;
    if (count != columns)
      from.fail(from.line(), "it has " + std::to_string(count) + " cells, and the first line " +
                                 std::to_string(columns) + "; correct the line, or set CsvOptions::separator");
  }
  if (body.lines.empty()) throw DataError(name + ": there is no row below the first line; add the data");
  if (body.lines.size() > static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max()))
    throw DataError(name + ": it has more than 2^31 - 1 rows; divide it into several files");
  return body;
}

/// Reads the cells of a column as numbers; false if one is neither a number nor missing.
inline bool csv_numbers(TableColumn& column, const CsvBody& body, std::size_t index, std::size_t columns,
                        const CsvOptions& options) {
  column.numbers.reserve(body.lines.size());
  for (std::size_t at = index; at < body.cells.size(); at += columns) {
    const bool missing = csv_missing(body.cells[at], options);
    const auto value = missing ? std::numeric_limits<double>::quiet_NaN() : number_in(body.cells[at]);
    if (!value) return false;
    column.numbers.push_back(*value);
  }
  return true;
}

inline void csv_texts(TableColumn& column, const CsvBody& body, std::size_t index, std::size_t columns,
                      const CsvOptions& options) {
  column.numeric = false;
  column.numbers = {};
  std::vector<std::string_view> texts;
  texts.reserve(body.lines.size());
  column.indices.reserve(body.lines.size());
  for (std::size_t at = index; at < body.cells.size(); at += columns)
    if (!csv_missing(body.cells[at], options)) texts.push_back(body.cells[at]);
  std::sort(texts.begin(), texts.end());
  texts.erase(std::unique(texts.begin(), texts.end()), texts.end());
  for (std::size_t at = index; at < body.cells.size(); at += columns) {
    const auto place = std::lower_bound(texts.begin(), texts.end(), body.cells[at]) - texts.begin();
    column.indices.push_back(csv_missing(body.cells[at], options) ? -1 : static_cast<std::int32_t>(place));
  }
  column.texts.assign(texts.begin(), texts.end());
}

CROCHET_COLD inline Table csv_table(std::string text, const std::string& name, const CsvOptions& options) {
  CsvCells cells{text, options.separator, name};
  std::vector<TableColumn> columns = columns_of_header(cells, name, options);
  CsvBody body = csv_body(cells, columns.size(), name);
  for (std::size_t i = 0; i < columns.size(); ++i)
    if (!columns[i].numeric || !csv_numbers(columns[i], body, i, columns.size(), options))
      csv_texts(columns[i], body, i, columns.size(), options);
  return {name, std::move(columns), std::move(body.lines)};
}

}  // namespace crochet::detail
