// SPDX-License-Identifier: Apache-2.0
// Reads sorted tables of LevelDB's format, one entry at a time. Checks every length before using it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <crochet/base/error.hpp>
#include <crochet/io/table_block.hpp>

namespace crochet::io {

namespace detail {

/// The layout of a table: data blocks from byte 0 to `filters`, the (unused) filter block, the index block.
struct TableFrame {
  BlockPlace filters{}, index{};
};

/// Reads the last 48 bytes and checks every bit of them. The blocks that they refer to must be contiguous.
TableFrame read_table_frame(std::string_view table);

}  // namespace detail

/// Calls visit(key, value) for each entry of a table, in the order of the keys; both are valid during the call.
/// - Throws DataLossError, without the file's name, if any bit differs from what was written, if there are gaps between
///   the data blocks, or if keys are not in order. Entries before the fault have been visited by then.
/// - Memory: three keys, and the decompressed size of compressed blocks: in total at most 4 bytes for each byte of the
///   table plus 256 KiB.
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
