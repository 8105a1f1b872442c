// SPDX-License-Identifier: Apache-2.0
// One block of a sorted table: its position, its checksum, and its entries.
//
//   entries | restarts: u32 each | number of restarts: u32 | kind of compression: 1 byte | masked CRC-32C: u32
//
// An entry is three varints (length of the prefix shared with the previous key, of the rest of the key, of the value),
// the rest of the key, and the value. Source: LevelDB, doc/table_format.md and table/block_builder.cc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <crochet/base/config.hpp>
#include <crochet/base/error.hpp>
#include <crochet/base/varint.hpp>

namespace crochet::io::detail {

inline constexpr std::size_t block_trailer_size = 5;

/// Every 16th key is stored in full, so one stored byte contributes to at most 16 keys.
inline constexpr std::size_t restart_interval = 16;

[[noreturn]] void table_is_damaged(const std::string& why);

struct BlockPlace {
  std::uint64_t offset = 0, size = 0;  // without the trailer
  [[nodiscard]] std::uint64_t end() const { return offset + size + block_trailer_size; }
};

/// Removes a block's position from the front.
BlockPlace take_block_place(std::string_view& from);

/// Whether the block starts at byte `begin` and ends, trailer included, at byte `end` or before.
bool lies_at(const BlockPlace& block, std::uint64_t begin, std::uint64_t end);

/// Reads the blocks of a table. Their positions must be inside the table.
class BlockReader {
 public:
  explicit BlockReader(std::string_view table) : table_(table), allowance_(unpacked_at_least + 4 * table.size()) {}

  /// The block's bytes without its trailer, decompressed into `memory` if necessary. All decompressed blocks together
  /// may have at most 4 times the table's size plus 256 KiB: compression does not reduce the names and numbers of an
  /// index much.
  std::string_view read(const BlockPlace& place, std::string& memory);

 private:
  static constexpr std::uint64_t unpacked_at_least = 262144;

  std::string_view table_;
  std::uint64_t allowance_;  // bytes that may still be decompressed
};

/// The bytes of a block's entries, without its restarts.
std::string_view entries_of(std::string_view block);

/// Calls visit(key, value) for each entry, in order; both are valid during the call. Throws DataLossError if a length
/// exceeds the block, or if the keys are longer in total than a block of that size can encode.
template <class F>
void for_each_block_entry(std::string_view block, F visit) {
  std::string_view rest = entries_of(block);
  std::string key;
  for (std::size_t keys = 0; !rest.empty();) {
    const std::uint64_t shared = take_varint(rest), own = take_varint(rest), value = take_varint(rest);
    if (shared > key.size() || own > rest.size() || value > rest.size() - own) {
      table_is_damaged("an entry is longer than its block");
    }
    key.resize(static_cast<std::size_t>(shared));
    key.append(rest.substr(0, static_cast<std::size_t>(own)));
    keys += key.size();
    if (keys > restart_interval * block.size()) table_is_damaged("keys that share more than 16 keys can");
    visit(std::string_view{key}, rest.substr(static_cast<std::size_t>(own), static_cast<std::size_t>(value)));
    rest.remove_prefix(static_cast<std::size_t>(own + value));
  }
}

}  // namespace crochet::io::detail

#ifdef CROCHET_HEADER_ONLY
#include <crochet/io/table_block.ipp>
#endif
