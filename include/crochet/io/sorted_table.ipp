// SPDX-License-Identifier: Apache-2.0
// The compiled half of sorted_table.hpp.
#pragma once

#include <crochet/io/sorted_table.hpp>

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <leveldb/env.h>
#include <leveldb/options.h>
#include <leveldb/table_builder.h>
#include <crochet/base/error.hpp>
#include <crochet/io/sorted_table_reader.hpp>

namespace crochet::io::detail {

/// Receives LevelDB's output in memory.
class TableSink final : public leveldb::WritableFile {
 public:
  leveldb::Status Append(const leveldb::Slice& data) override {
    bytes.append(data.data(), data.size());
    return {};
  }
  leveldb::Status Close() override { return {}; }
  leveldb::Status Flush() override { return {}; }
  leveldb::Status Sync() override { return {}; }

  std::string bytes{};
};

}  // namespace crochet::io::detail

namespace crochet::io {

CROCHET_INLINE std::string write_sorted_table(std::span<const KeyValue> entries) {
  leveldb::Options options;
  options.block_size = 262144;
  options.compression = leveldb::kNoCompression;
  detail::TableSink sink;
  leveldb::TableBuilder builder{options, &sink};
  try {
    for (std::size_t i = 0; i < entries.size(); ++i) {
      if (i > 0 && entries[i].first <= entries[i - 1].first) {
        throw LogicError("crochet: the keys of a table have to be different and in order, and \"" + entries[i].first +
                         "\" is repeated or out of order");
      }
      builder.Add(entries[i].first, entries[i].second);
    }
    builder.Flush();  // if Finish() throws after this, it has already marked the builder closed
  } catch (...) {
    builder.Abandon();  // otherwise the builder's destructor would abort
    throw;
  }
  (void)builder.Finish();  // the sink reports no errors
  return std::move(sink.bytes);
}

CROCHET_INLINE std::vector<KeyValue> read_sorted_table(std::string_view table) {
  std::vector<KeyValue> entries;
  for_each_table_entry(table, [&](std::string_view key, std::string_view value) { entries.emplace_back(key, value); });
  return entries;
}

}  // namespace crochet::io
