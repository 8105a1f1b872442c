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
    require_within({128, 256 * test::kib}, input.size(), [&] { read(files, separator); });  // csv.hpp
  }
}
