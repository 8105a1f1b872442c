// SPDX-License-Identifier: Apache-2.0
// Sorted tables of LevelDB's format, built by hand, with correct checksums and any content.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include <crochet/base/little_endian.hpp>
#include <crochet/io/crc32c.hpp>

namespace crochet::test {

inline std::string varint(std::uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) bytes += static_cast<char>((value & 0x7f) | 0x80);
  return bytes + static_cast<char>(value);
}

inline std::string number32(std::uint32_t value) {
  std::string bytes;
  crochet::append_little_endian(bytes, value);
  return bytes;
}

/// An entry whose key begins with the first `shared` bytes of the previous key. The other lengths are those of `own`
/// and `value`.
inline std::string table_entry(std::uint64_t shared, std::string_view own, std::string_view value) {
  return varint(shared) + varint(own.size()) + varint(value.size()) + std::string(own) + std::string(value);
}

/// A block: the entries and one restart, without a trailer.
inline std::string block_of(std::string_view entries) { return std::string(entries) + number32(0) + number32(1); }

/// Appends blocks to a table.
class TableFile {
 public:
  /// Appends a block and its trailer. Returns its place in the format of an index entry.
  std::string add(std::string_view block, char compression = '\0') {
    std::string place = varint(bytes_.size()) + varint(block.size());
    std::string covered = std::string(block) + compression;
    bytes_ += covered + number32(io::masked_crc(io::crc32c(covered)));
    return place;
  }
  /// The complete file: the blocks so far, a block for filters, and this index.
  std::string finish(std::string_view index, char compression = '\0') {
    std::string footer = add(block_of(""));
    footer += add(index, compression);
    footer.resize(40, '\0');
    return bytes_ + footer + "\x57\xfb\x80\x8b\x24\x75\x47\xdb";
  }

 private:
  std::string bytes_{};
};

/// A table of one data block.
inline std::string table_of_block(std::string_view block, char compression = '\0') {
  TableFile file;
  const std::string place = file.add(block, compression);
  return file.finish(block_of(table_entry(0, "\x7f", place)));
}

/// The header of an index: one data file, version 1.
inline constexpr std::string_view bundle_header{"\x08\x01\x1a\x02\x08\x01", 6};

/// An index of 173 bytes whose second entry has two lengths that add up to 4 in 32 bits.
inline std::string index_with_wrapping_lengths() {
  const std::string entry = std::string(1, '\0') + varint(0xffffffff) + varint(5) + std::string(64, 'a');
  return table_of_block(block_of(table_entry(0, "", bundle_header) + entry));
}

}  // namespace crochet::test
