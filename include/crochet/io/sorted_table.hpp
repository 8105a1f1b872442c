// SPDX-License-Identifier: Apache-2.0
// Sorted tables of keys and values in LevelDB's format, which the index of a TensorBundle is: blocks with a CRC-32C
// each. LevelDB's own code writes and reads them; what it takes on trust from a file is checked before.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <leveldb/env.h>
#include <leveldb/iterator.h>
#include <leveldb/options.h>
#include <leveldb/table.h>
#include <leveldb/table_builder.h>

#include <crochet/error.hpp>
#include <crochet/io/crc32c.hpp>

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

inline constexpr std::size_t table_footer_size = 48;
inline constexpr std::size_t block_trailer_size = 5;  // the kind of compression and a CRC
inline constexpr std::size_t smallest_block_size = 8 + block_trailer_size;

/// What LevelDB reads, from memory. It trusts the sizes in an index block: with one near 2^64 it would read beyond a
/// buffer that it made too small, so that nothing shorter than a block is given to it.
class TableSource final : public leveldb::RandomAccessFile {
 public:
  explicit TableSource(std::string_view bytes) : bytes_(bytes) {}
  leveldb::Status Read(std::uint64_t offset, std::size_t n, leveldb::Slice* result, char*) const override {
    if (n < smallest_block_size || offset > bytes_.size() || n > bytes_.size() - offset) {
      return leveldb::Status::Corruption("a block lies outside the file");
    }
    *result = leveldb::Slice(bytes_.data() + offset, n);
    return {};
  }

 private:
  std::string_view bytes_;
};

[[noreturn]] CROCHET_COLD inline void table_is_damaged(const std::string& why) {
  throw DataLossError("it is no whole table of LevelDB's format: " + why);
}

/// Takes a number of LevelDB's format (LEB128) from the front. One that is longer than it has to be is refused: a
/// flipped bit can make it so without changing its value.
inline std::uint64_t take_varint(std::string_view& from) {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 64 && !from.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(from.front());
    from.remove_prefix(1);
    value |= std::uint64_t{byte & 0x7fu} << shift;
    if (byte == 0 && shift > 0) break;
    if (byte < 0x80) return value;
  }
  table_is_damaged("a number does not end where it has to");
}

struct TableBlock {
  std::uint64_t offset, size;  // without the trailer
};
/// Takes a block's place from the front.
inline TableBlock take_block(std::string_view& from) {
  const std::uint64_t offset = take_varint(from);
  return {offset, take_varint(from)};
}
inline bool lies_within(const TableBlock& block, std::uint64_t end) {
  return block.size >= smallest_block_size - block_trailer_size && block.offset <= end &&
         end - block.offset >= block_trailer_size && block.size <= end - block.offset - block_trailer_size;
}

inline std::uint32_t load_u32(std::string_view bytes, std::size_t at) {
  std::uint32_t value = 0;
  for (unsigned i = 0; i < 4; ++i) value |= std::uint32_t{static_cast<unsigned char>(bytes[at + i])} << (8 * i);
  return value;
}

inline void check_block(std::string_view table, const TableBlock& block) {
  const std::string_view covered = table.substr(block.offset, block.size + 1);
  if (masked_crc(crc32c(covered)) != load_u32(table, block.offset + covered.size())) {
    table_is_damaged("a checksum is wrong");
  }
}

/// LevelDB allocates what an index entry says before it looks whether the file has that much. In a block that is not
/// compressed the entries can be looked at first.
inline void check_data_blocks(std::string_view table, const TableBlock& index) {
  if (table[index.offset + index.size] != 0) return;
  std::string_view block = table.substr(index.offset, index.size);
  const std::uint64_t restarts = load_u32(block, block.size() - 4);
  if (restarts > block.size() / 4 - 1) table_is_damaged("its index has too many restart points");
  block.remove_suffix(4 * (restarts + 1));
  while (!block.empty()) {
    take_varint(block);
    const std::uint64_t key = take_varint(block);
    const std::uint64_t value = take_varint(block);
    if (key > block.size() || value > block.size() - key) table_is_damaged("an entry of its index is too long");
    std::string_view place = block.substr(key, value);
    if (!lies_within(take_block(place), index.offset)) table_is_damaged("a block lies outside the file");
    block.remove_prefix(key + value);
  }
}

/// Looks at what LevelDB does not: the last 48 bytes to the last bit, and the block for filters, which it leaves
/// unread.
inline void check_table_frame(std::string_view table) {
  static constexpr std::string_view magic = "\x57\xfb\x80\x8b\x24\x75\x47\xdb";
  if (table.size() < table_footer_size || !table.ends_with(magic)) table_is_damaged("its last bytes are not a table's");
  std::string_view footer = table.substr(table.size() - table_footer_size, table_footer_size - magic.size());
  const TableBlock filters = take_block(footer);
  const TableBlock index = take_block(footer);
  if (footer.find_first_not_of('\0') != footer.npos) table_is_damaged("its last bytes are not a table's");
  const std::uint64_t end = table.size() - table_footer_size;
  if (!lies_within(index, end) || !lies_within(filters, index.offset) ||
      index.offset + index.size + block_trailer_size != end ||
      filters.offset + filters.size + block_trailer_size != index.offset) {
    table_is_damaged("its blocks do not follow each other");
  }
  check_block(table, filters);
  check_block(table, index);
  check_data_blocks(table, index);
}

}  // namespace detail

/// A table with these entries, which have to be sorted by key, bytewise, each key once. Blocks of 256 KiB, nothing
/// compressed: the bytes that TensorFlow writes for its checkpoints. Throws LogicError if the keys are not in order.
inline std::string write_sorted_table(std::span<const KeyValue> entries) {
  leveldb::Options options;
  options.block_size = 262144;
  options.compression = leveldb::kNoCompression;
  detail::TableSink sink;
  leveldb::TableBuilder builder{options, &sink};
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (i > 0 && entries[i].first <= entries[i - 1].first) {
      builder.Abandon();
      throw LogicError("crochet: the keys of a table have to be different and in order");
    }
    builder.Add(entries[i].first, entries[i].second);
  }
  (void)builder.Finish();  // the sink takes everything
  return std::move(sink.bytes);
}

/// The entries of such a table, in order, every block compared with its checksum. Throws DataLossError, without the
/// name of a file, if a single bit of it is not as it was written.
inline std::vector<KeyValue> read_sorted_table(std::string_view table) {
  detail::check_table_frame(table);
  detail::TableSource source{table};
  leveldb::Options options;
  options.paranoid_checks = true;
  leveldb::Table* opened = nullptr;
  std::vector<KeyValue> entries;
  try {
    leveldb::Status status = leveldb::Table::Open(options, &source, table.size(), &opened);
    const std::unique_ptr<leveldb::Table> owner{opened};
    if (!status.ok()) detail::table_is_damaged(status.ToString());
    leveldb::ReadOptions reading;
    reading.verify_checksums = true;
    const std::unique_ptr<leveldb::Iterator> at{owner->NewIterator(reading)};
    for (at->SeekToFirst(); at->Valid(); at->Next()) entries.emplace_back(at->key().ToString(), at->value().ToString());
    if (!at->status().ok()) detail::table_is_damaged(at->status().ToString());
  } catch (const std::bad_alloc&) {
    detail::table_is_damaged("a block is larger than the memory");
  }
  const auto disorder = [](const KeyValue& a, const KeyValue& b) { return a.first >= b.first; };
  if (std::adjacent_find(entries.begin(), entries.end(), disorder) != entries.end()) {
    detail::table_is_damaged("its keys are not in order");
  }
  return entries;
}

}  // namespace crochet::io
