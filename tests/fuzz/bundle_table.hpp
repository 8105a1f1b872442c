// SPDX-License-Identifier: Apache-2.0
// Repairs the checksums of a sorted table.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <crochet/base/little_endian.hpp>
#include <crochet/io/crc32c.hpp>
#include <crochet/io/sorted_table_reader.hpp>

namespace crochet::test {

/// Returns whether the table has compressed blocks.
inline bool repair_table(std::string& table) {
  namespace detail = io::detail;
  constexpr std::string_view magic = "\x57\xfb\x80\x8b\x24\x75\x47\xdb";
  if (table.size() < 48) return false;
  table.replace(table.size() - magic.size(), magic.size(), magic);
  bool compressed = false;
  const auto repair = [&](const detail::BlockPlace& place) {
    const std::uint64_t size = table.size();
    if (place.size >= size || place.offset >= size || size - place.offset < place.size + 5) return;
    const auto at = static_cast<std::size_t>(place.offset), length = static_cast<std::size_t>(place.size);
    std::string crc;
    append_little_endian(crc, io::masked_crc(io::crc32c(std::string_view{table}.substr(at, length + 1))));
    table.replace(at + length + 1, crc.size(), crc);
    compressed = compressed || table[at + length] == 1;
  };
  try {
    std::string_view footer = std::string_view{table}.substr(table.size() - 48);
    repair(detail::take_block_place(footer));
    const detail::BlockPlace index = detail::take_block_place(footer);
    repair(index);
    std::string memory;
    const std::string copy = table;
    if (!detail::lies_at(index, index.offset, copy.size())) return compressed;
    detail::for_each_block_entry(detail::BlockReader{copy}.read(index, memory),
                                 [&](auto, std::string_view value) { repair(detail::take_block_place(value)); });
  } catch (const DataLossError&) {
  }
  return compressed;
}

}  // namespace crochet::test
