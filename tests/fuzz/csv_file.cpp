// SPDX-License-Identifier: Apache-2.0
// CSV files, with several separators: the table, its columns and what selects rows.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <crochet/data/csv.hpp>

#include "file_reader.hpp"

using namespace crochet;

namespace {

/// Calls use() on the table; it may throw DataError only.
template <class Use>
void of(const Table& table, const Use& use) {
  try {
    use();
  } catch (const DataError&) {
  }
  require(table.rows() > 0);
}

void take_columns(const Table& table) {
  std::vector<std::string_view> names = table.names();
  if (names.size() > 16) names.resize(16);  // a lookup by name takes the number of columns
  for (const std::string_view name : names) {
    require(!name.empty());
    of(table, [&] { require(table.column<float>(name).rows() == table.rows()); });
    of(table, [&] { (void)table.column<std::uint8_t>(name); });
    of(table, [&] { (void)table.column<std::int64_t>(name); });
    of(table, [&] {
      const Categories categories = table.categories(name);
      for (const std::int32_t index : categories.indices.view())
        require(index >= 0 && static_cast<std::size_t>(index) < categories.names.size());
    });
  }
}

/// The values of a column, or why it has none.
std::string contents(const Table& table, std::string_view name) {
  std::string text;
  try {
    const auto values = table.column<double>(name);
    for (const double value : values.view()) text += detail::number_text(value) + ' ';
    return text;
  } catch (const DataError& error) {
    text = error.what();
  }
  try {
    const Categories categories = table.categories(name);
    for (const std::int32_t index : categories.indices.view()) text += std::to_string(index) + ' ';
    for (const std::string& one : categories.names) text += one + '\n';
  } catch (const DataError& error) {
    text += error.what();
  }
  return text;
}

/// What is read in passes over pieces of the file is the same as by a list of its cells.
void compare(test::MemoryFiles& files, const CsvOptions& options, std::string_view input) {
  try {
    const auto passes = detail::csv_table_in_passes("f", options, files);
    if (!passes) return;
    const Table cells = detail::csv_table(std::string(input), "f", options);
    require(passes->rows() == cells.rows() && passes->names() == cells.names());
    std::vector<std::string_view> names = cells.names();
    if (names.size() > 16) names.resize(16);
    for (const std::string_view name : names) {
      require(contents(*passes, name) == contents(cells, name));
      require(contents(passes->fill_missing(-77), name) == contents(cells.fill_missing(-77), name));
    }
    of(cells, [&] {
      const Table left = passes->drop_missing(), also = cells.drop_missing();
      require(left.rows() == also.rows());
      for (const std::string_view name : names) require(contents(left, name) == contents(also, name));
    });
  } catch (const DataError&) {
  }
}

std::vector<std::string> first_name(test::MemoryFiles& files, char separator) {
  try {
    const Table table = read_csv("f", {.separator = separator}, files);
    return {std::string(table.names().front())};
  } catch (const DataError&) {
    return {};
  }
}

void read(test::MemoryFiles& files, char separator) {
  try {
    const Table table = read_csv("f", {.separator = separator}, files);
    take_columns(table);
    of(table, [&] { take_columns(table.drop_missing()); });
    of(table, [&] { take_columns(table.fill_missing(0)); });
  } catch (const DataError&) {
  }
}

}  // namespace

void fuzz(std::string_view input) {
  if (input.starts_with("\x1f\x8b")) return;  // tested by gzip_file.cpp
  for (const char separator : {',', ';', '\t'}) {
    test::MemoryFiles files;
    files["f"] = input;
    compare(files, {.separator = separator}, input);
    compare(files, {.separator = separator, .texts = first_name(files, separator)}, input);
    require_within({128, 256 * test::kib}, input.size(), [&] { read(files, separator); });  // csv.hpp
  }
}
