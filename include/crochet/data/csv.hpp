// SPDX-License-Identifier: Apache-2.0
// read_csv: a table from a file of comma-separated values, plain or gzipped.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <crochet/base/config.hpp>
#include <crochet/base/error.hpp>
#include <crochet/data/csv_cells.hpp>
#include <crochet/data/csv_numbers.hpp>
#include <crochet/data/read_text.hpp>
#include <crochet/data/table.hpp>
#include <crochet/data/table_column.hpp>
#include <crochet/storage/file_system.hpp>

namespace crochet {

/// The form of a CSV file, and a limit.
struct CsvOptions {
  char separator = ',';
  std::vector<std::string> missing{"", "NA", "nan", "NaN", "?"};  ///< cells that stand for a missing value
  std::uint64_t max_bytes = std::uint64_t{1} << 30;               ///< of the text, unpacked
};

namespace detail {

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
    const bool missing = csv_missing(body.cells[at], options.missing);
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
    if (!csv_missing(body.cells[at], options.missing)) texts.push_back(body.cells[at]);
  std::sort(texts.begin(), texts.end());
  texts.erase(std::unique(texts.begin(), texts.end()), texts.end());
  for (std::size_t at = index; at < body.cells.size(); at += columns) {
    const auto place = std::lower_bound(texts.begin(), texts.end(), body.cells[at]) - texts.begin();
    column.indices.push_back(csv_missing(body.cells[at], options.missing) ? -1 : static_cast<std::int32_t>(place));
  }
  column.texts.assign(texts.begin(), texts.end());
}

/// The table of a text of plain numbers; empty if CsvCells has to read it. Does not change the text.
inline std::optional<Table> csv_table_of_numbers(std::string_view text, std::int64_t line,
                                                 std::vector<TableColumn> columns, const std::string& name,
                                                 const CsvOptions& options) {
  std::vector<std::int64_t> lines;
  if (!CsvNumbers(text, line, options.separator, options.missing).read(columns, lines)) return std::nullopt;
  constexpr std::size_t most_rows = std::numeric_limits<std::int32_t>::max();
  if (lines.empty() || lines.size() > most_rows) return std::nullopt;
  return Table{name, std::move(columns), std::move(lines)};
}

CROCHET_COLD inline Table csv_table(std::string text, const std::string& name, const CsvOptions& options) {
  CsvCells cells{text, options.separator, name};
  std::vector<TableColumn> columns = csv_header(cells, name);
  if (auto table = csv_table_of_numbers(cells.rest(), cells.next_line(), columns, name, options))
    return *std::move(table);
  CsvBody body = csv_body(cells, columns.size(), name);
  for (std::size_t i = 0; i < columns.size(); ++i)
    if (!csv_numbers(columns[i], body, i, columns.size(), options))
      csv_texts(columns[i], body, i, columns.size(), options);
  return {name, std::move(columns), std::move(body.lines)};
}

}  // namespace detail

/// Reads a table from a CSV file, plain or gzipped, in UTF-8. The first line has the names of the columns.
/// - A cell may be in quotation marks, with each of its own doubled. Then it may contain separators and line ends.
/// - Lines end in LF or CR LF; empty ones are skipped. Spaces and tabs around a cell are no part of it, unless in
///   quotes.
/// - A column is numeric if all its values are finite numbers or missing; else it is a column of texts. Numbers have a
///   decimal point, whatever the locale.
/// - Throws: IoError if the file is missing or unreadable; DataLossError if it is damaged (gzip) or larger than the
///   limit; DataError, with file and line, for an empty file, names that are empty or equal, lines of different length,
///   NUL bytes, and quotes that are not closed; ResourceExhaustedError if memory is exhausted; LogicError for a
///   separator that has another meaning.
/// - Memory while it is read: at most 128 bytes for each byte of the text (tests/fuzz/csv_file.cpp).
CROCHET_COLD inline Table read_csv(const std::filesystem::path& path, const CsvOptions& options = {},
                                   io::FileSystem& files = io::local_files()) {
  if (std::string_view("\"\r\n\0", 4).find(options.separator) != std::string_view::npos)
    throw LogicError("CsvOptions::separator is a quote, a line end or NUL; set another, such as ',' or ';'");
  try {
    return detail::csv_table(detail::whole_text(path, options.max_bytes, files), path.string(), options);
  } catch (const std::bad_alloc&) {
    throw ResourceExhaustedError(path.string() + ": there is not enough memory for it; read a smaller part of it");
  }
}

}  // namespace crochet
