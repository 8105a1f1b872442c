// SPDX-License-Identifier: Apache-2.0
// Reads sorted tables of LevelDB's format, one entry at a time. Every length is checked before it is used.
#pragma once

#include <cstddef>
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
inline TableFrame read_table_frame(std::string_view table) {
  static constexpr std::string_view magic = "\x57\xfb\x80\x8b\x24\x75\x47\xdb";
  static constexpr std::size_t footer_size = 48;
  if (table.size() < footer_size || !table.ends_with(magic)) table_is_damaged("its last bytes are not a table's");
  std::string_view footer = table.substr(table.size() - footer_size, footer_size - magic.size());
  TableFrame frame;
  frame.filters = take_block_place(footer);
  frame.index = take_block_place(footer);
  if (footer.find_first_not_of('\0') != footer.npos) table_is_damaged("its last bytes are not a table's");
  const std::uint64_t end = table.size() - footer_size;
  if (frame.filters.offset > end || !lies_at(frame.filters, frame.filters.offset, end) ||
      !lies_at(frame.index, frame.filters.end(), end) || frame.index.end() != end) {
    table_is_damaged("its blocks do not follow each other");
  }
  return frame;
}

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
