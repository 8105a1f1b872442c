// SPDX-License-Identifier: Apache-2.0
// The compiled half of table_block.hpp.
#pragma once

#include <crochet/io/table_block.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <crochet/base/config.hpp>
#include <crochet/base/error.hpp>
#include <crochet/base/little_endian.hpp>
#include <crochet/base/varint.hpp>
#include <crochet/io/crc32c.hpp>
#include <crochet/io/snappy.hpp>

namespace crochet::io::detail {

inline constexpr std::size_t smallest_block = 8;  // no entry, one restart

CROCHET_COLD CROCHET_INLINE void table_is_damaged(const std::string& why) {
  throw DataLossError("it is no whole table of LevelDB's format: " + why);
}

CROCHET_INLINE BlockPlace take_block_place(std::string_view& from) {
  const std::uint64_t offset = take_varint(from);
  return {offset, take_varint(from)};
}

CROCHET_INLINE bool lies_at(const BlockPlace& block, std::uint64_t begin, std::uint64_t end) {
  return block.offset == begin && begin <= end && end - begin > block_trailer_size && block.size >= 1 &&
         block.size <= end - begin - block_trailer_size;
}

CROCHET_INLINE std::string_view BlockReader::read(const BlockPlace& place, std::string& memory) {
  const auto offset = static_cast<std::size_t>(place.offset), size = static_cast<std::size_t>(place.size);
  const std::string_view covered = table_.substr(offset, size + 1), stored = table_.substr(offset + size + 1, 4);
  if (masked_crc(crc32c(covered)) != little_endian<std::uint32_t>(stored)) table_is_damaged("a checksum is wrong");
  const std::string_view bytes = covered.substr(0, covered.size() - 1);
  if (covered.back() == 0) return bytes;
  if (covered.back() != 1) table_is_damaged("a block is compressed in a way that is not known");
  memory = {};  // frees the memory before the next block is decompressed
  memory = unpack_snappy(bytes, allowance_);
  allowance_ -= memory.size();
  return memory;
}

CROCHET_INLINE std::string_view entries_of(std::string_view block) {
  if (block.size() < smallest_block) table_is_damaged("a block is too short");
  const std::uint64_t restarts = little_endian<std::uint32_t>(block.substr(block.size() - 4));
  if (restarts == 0 || restarts > block.size() / 4 - 1) table_is_damaged("a block has a wrong number of restarts");
  return block.substr(0, block.size() - 4 * static_cast<std::size_t>(restarts + 1));
}

}  // namespace crochet::io::detail
