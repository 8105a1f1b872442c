// SPDX-License-Identifier: Apache-2.0
// Reads sorted tables of LevelDB's format, one entry at a time. Every length is checked before it is used.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <crochet/base/error.hpp>
#include <crochet/io/table_block.hpp>

namespace crochet::io {

namespace detail {

/// Where the parts of a table are: data blocks from byte 0 to `filters`, the (unused) block for filters, the index.
struct TableFrame {
  BlockPlace filters{}, index{};
};

/// Reads the last 48 bytes, to the last bit. The blocks that they name have to follow each other.
TableFrame read_table_frame(std::string_view table);

}  // namespace detail

/// Calls visit(key, value) for each entry of a table, in the order of the keys; both are valid during the call. Throws
/// DataLossError, without the name of a file, if a single bit of the table is not as it was written, if data blocks do
/// not follow each other without a gap, or if keys are not in order; entries before the fault have been visited then.
/// Memory: three keys; where blocks are compressed, what they unpack to, at most 4 bytes for each of the table's and
/// 256 KiB in all.
template <class F>
void for_each_table_entry(std::string_view table, F visit) {
  const detail::TableFrame frame = detail::read_table_frame(table);
  detail::BlockReader blocks{table};
  std::string filters, index, data, last;
  (void)detail::entries_of(blocks.read(frame.filters, filters));
  std::uint64_t next = 0;
  bool first = true;
  const auto entry = [&](std::string_view key, std::string_view value) {
    if (!first && key <= last) detail::table_is_damaged("its keys are not in order");
    first = false;
    last = key;
    visit(key, value);
  };
  detail::for_each_block_entry(blocks.read(frame.index, index), [&](auto, std::string_view value) {
    const detail::BlockPlace place = detail::take_block_place(value);
    if (!detail::lies_at(place, next, frame.filters.offset)) detail::table_is_damaged("a block lies elsewhere");
    next = place.end();
    detail::for_each_block_entry(blocks.read(place, data), entry);
  });
  if (next != frame.filters.offset) detail::table_is_damaged("a block is missing");
}

}  // namespace crochet::io

#ifdef CROCHET_HEADER_ONLY
#include <crochet/io/sorted_table_reader.ipp>
#endif
