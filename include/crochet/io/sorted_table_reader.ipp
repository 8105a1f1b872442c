// SPDX-License-Identifier: Apache-2.0
// The compiled half of sorted_table_reader.hpp.
#pragma once

#include <crochet/io/sorted_table_reader.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <crochet/base/error.hpp>
#include <crochet/io/table_block.hpp>

namespace crochet::io::detail {

CROCHET_INLINE TableFrame read_table_frame(std::string_view table) {
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

}  // namespace crochet::io::detail
