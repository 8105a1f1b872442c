// SPDX-License-Identifier: Apache-2.0
// A table from a CSV file in one pass over its pieces. At its first access the memory of a whole text takes longer than
// the numbers in it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <crochet/base/config.hpp>
#include <crochet/base/error.hpp>
#include <crochet/data/csv_body.hpp>
#include <crochet/data/csv_cells.hpp>
#include <crochet/data/csv_columns.hpp>
#include <crochet/data/csv_options.hpp>
#include <crochet/data/line_pieces.hpp>
#include <crochet/data/table.hpp>
#include <crochet/data/table_column.hpp>
#include <crochet/storage/file_system.hpp>

namespace crochet::detail {

/// Reads a file once. `texts` are the columns to be read as texts; a column with a text behind numbers is added to it,
/// and then the file has to be read again.
class CsvPass {
 public:
  CsvPass(const std::filesystem::path& path, const CsvOptions& options, io::FileSystem& files)
      : name_(path.string()), options_(&options), pieces_(path, options.max_bytes, files) {}

  /// No value if CsvCells has to read the file, or if `texts` has changed.
  CROCHET_COLD std::optional<Table> run(std::vector<std::size_t>& texts) {
    const auto first = pieces_.next();
    if (!first) return std::nullopt;
    std::string text(*first);
    CsvCells cells{text, options_->separator, name_};
    std::vector<TableColumn> columns;
    try {
      columns = columns_of_header(cells, name_, *options_);
    } catch (const DataError&) {
      return std::nullopt;  // the header may continue behind this piece: CsvCells reads it, or reports the error
    }
    for (const std::size_t c : texts) columns[c].numeric = false;
    CsvColumns rows(std::move(columns), cells.next_line(), *options_);
    if (!read(rows, cells.rest(), text.size())) {
      if (const auto c = rows.text_behind_numbers()) texts.push_back(*c);
      return std::nullopt;
    }
    if (rows.rows() == 0 || rows.rows() > std::numeric_limits<std::int32_t>::max()) return std::nullopt;
    auto [all, lines] = std::move(rows).finish();
    return Table{name_, std::move(all), std::move(lines)};
  }

 private:
  bool read(CsvColumns& rows, std::string_view first, std::size_t first_bytes) {
    if (!rows.append(first)) return false;
    // If all pieces are like the first.
    const std::uint64_t bytes = std::min<std::uint64_t>(pieces_.file_bytes(), options_->max_bytes);
    const std::uint64_t expected = rows.rows() * bytes / first_bytes;
    rows.reserve(static_cast<std::size_t>(expected + expected / 16));
    auto piece = pieces_.next();
    while (piece && !piece->empty() && rows.append(*piece)) piece = pieces_.next();
    return piece && piece->empty();
  }

  std::string name_;
  const CsvOptions* options_;
  LinePieces pieces_;
};

/// The table of a file whose cells hold no line end; no value for other files, and for those that are no CSV.
CROCHET_COLD inline std::optional<Table> csv_table_in_passes(const std::filesystem::path& path,
                                                             const CsvOptions& options, io::FileSystem& files) {
  constexpr std::size_t most_passes = 4;  // in most files the first row has the kinds of the columns
  std::vector<std::size_t> texts;
  for (std::size_t pass = 0; pass < most_passes; ++pass) {
    const std::size_t before = texts.size();
    if (auto table = CsvPass(path, options, files).run(texts)) return table;
    if (texts.size() == before) break;
  }
  return std::nullopt;
}

}  // namespace crochet::detail
