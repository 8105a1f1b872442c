// SPDX-License-Identifier: Apache-2.0
// Sorted tables of keys and values in LevelDB's format, which the index of a TensorBundle is: blocks with a CRC-32C
// each. LevelDB's own code writes them; it trusts what it reads, so sorted_table_reader.hpp reads them.
#pragma once

#include <crochet/io/needs_io.hpp>

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

namespace crochet::io {

using KeyValue = std::pair<std::string, std::string>;

namespace detail {

/// What LevelDB writes, in memory.
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

}  // namespace detail

/// A table with these entries, which have to be sorted by key, bytewise, each key once. Blocks of 256 KiB, nothing
/// compressed: the bytes that TensorFlow writes for its checkpoints. Throws LogicError if the keys are not in order.
inline std::string write_sorted_table(std::span<const KeyValue> entries) {
  leveldb::Options options;
  options.block_size = 262144;
  options.compression = leveldb::kNoCompression;
  detail::TableSink sink;
  leveldb::TableBuilder builder{options, &sink};
  try {
    for (std::size_t i = 0; i < entries.size(); ++i) {
      if (i > 0 && entries[i].first <= entries[i - 1].first) {
        throw LogicError("crochet: the keys of a table have to be different and in order");
      }
      builder.Add(entries[i].first, entries[i].second);
    }
    builder.Flush();  // Finish() counts as closed from here on
  } catch (...) {
    builder.Abandon();  // a builder that is neither finished nor abandoned ends the program
    throw;
  }
  (void)builder.Finish();  // the sink takes everything
  return std::move(sink.bytes);
}

/// The entries of such a table, in order: see for_each_table_entry(), which throws the errors. Memory: the keys take at
/// most 16 bytes for each byte of a block.
inline std::vector<KeyValue> read_sorted_table(std::string_view table) {
  std::vector<KeyValue> entries;
  for_each_table_entry(table, [&](std::string_view key, std::string_view value) { entries.emplace_back(key, value); });
  return entries;
}

}  // namespace crochet::io
