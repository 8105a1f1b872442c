// SPDX-License-Identifier: Apache-2.0
// read_csv: a table from a file of comma-separated values, plain or gzipped.
#pragma once

#include <filesystem>
#include <new>
#include <string_view>
#include <utility>

#include <crochet/base/config.hpp>
#include <crochet/base/error.hpp>
#include <crochet/data/csv_body.hpp>
#include <crochet/data/csv_options.hpp>
#include <crochet/data/csv_pass.hpp>
#include <crochet/data/read_text.hpp>
#include <crochet/data/table.hpp>
#include <crochet/storage/file_system.hpp>

namespace crochet {

/// Reads a table from a CSV file, plain or gzipped, in UTF-8. The first line has the names of the columns.
/// - A cell may be in quotation marks, with each of its own doubled. Then it may contain separators and line ends.
/// - Lines end in LF or CR LF; empty ones are skipped. Spaces and tabs around a cell are no part of it, unless in
///   quotes.
/// - A column is numeric if all its values are finite numbers or missing, and CsvOptions::texts does not have its name;
///   else it is a column of texts. Numbers have a decimal point, whatever the locale.
/// - Throws: IoError if the file is missing or unreadable; DataLossError if it is damaged (gzip) or larger than the
///   limit; DataError, with file and line, for an empty file, names that are empty or equal, a name in
///   CsvOptions::texts that is not there, lines of different length, NUL bytes, and quotes that are not closed;
///   ResourceExhaustedError if memory is exhausted; LogicError for a separator that has another meaning.
/// - Memory while it is read: at most 128 bytes for each byte of the text (tests/fuzz/csv_file.cpp).
CROCHET_COLD inline Table read_csv(const std::filesystem::path& path, const CsvOptions& options = {},
                                   io::FileSystem& files = io::local_files()) {
  if (std::string_view("\"\r\n\0", 4).find(options.separator) != std::string_view::npos)
    throw LogicError("crochet: CsvOptions::separator is a quote, a line end or NUL; set another, such as ',' or ';'");
  try {
    if (auto table = detail::csv_table_in_passes(path, options, files)) return *std::move(table);
    return detail::csv_table(detail::whole_text(path, options.max_bytes, files), path.string(), options);
  } catch (const std::bad_alloc&) {
    throw ResourceExhaustedError(path.string() + ": there is not enough memory for it; read a smaller part of it");
  }
}

}  // namespace crochet
