// SPDX-License-Identifier: Apache-2.0
// The compiled half of snappy.hpp.
#pragma once

#include <crochet/io/snappy.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <crochet/base/config.hpp>
#include <crochet/base/error.hpp>
#include <crochet/base/varint.hpp>

namespace crochet::io::detail {

[[noreturn]] CROCHET_COLD CROCHET_INLINE void snappy_is_damaged() {
  throw DataLossError("its compressed data are damaged");
}

/// Removes a number of `bytes` bytes from the front, least significant byte first.
CROCHET_INLINE std::uint64_t take_snappy_number(std::string_view& from, std::uint64_t bytes) {
  if (from.size() < bytes) snappy_is_damaged();
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < bytes; ++i) value |= std::uint64_t{static_cast<unsigned char>(from[i])} << (8 * i);
  from.remove_prefix(static_cast<std::size_t>(bytes));
  return value;
}

/// Appends `length` bytes from `offset` bytes before the end; the copy may overlap its source.
CROCHET_INLINE void copy_back(std::string& to, std::uint64_t offset, std::uint64_t length, std::uint64_t size) {
  if (offset == 0 || offset > to.size() || length > size - to.size()) snappy_is_damaged();
  for (; length > 0; --length) to += to[to.size() - static_cast<std::size_t>(offset)];
}

/// Appends a literal whose tag has been read.
CROCHET_INLINE void take_literal(std::string& to, std::string_view& from, std::uint64_t tag, std::uint64_t size) {
  std::uint64_t length = (tag >> 2) + 1;
  if (length > 60) length = take_snappy_number(from, length - 60) + 1;
  if (length > from.size() || length > size - to.size()) snappy_is_damaged();
  to.append(from.substr(0, static_cast<std::size_t>(length)));
  from.remove_prefix(static_cast<std::size_t>(length));
}

CROCHET_INLINE std::string unpack_snappy(std::string_view from, std::uint64_t most) {
  constexpr std::uint64_t best_ratio = 22;  // 3 bytes expand to at most 64
  const std::uint64_t size = take_varint(from);
  if (size > most || size > best_ratio * from.size()) snappy_is_damaged();
  std::string to;
  to.reserve(static_cast<std::size_t>(size));
  while (!from.empty()) {
    const std::uint64_t tag = take_snappy_number(from, 1);
    if ((tag & 3) == 0) {
      take_literal(to, from, tag, size);
    } else if ((tag & 3) == 1) {
      const std::uint64_t low = take_snappy_number(from, 1);
      copy_back(to, (tag >> 5) << 8 | low, 4 + ((tag >> 2) & 7), size);
    } else {
      copy_back(to, take_snappy_number(from, (tag & 3) == 2 ? 2 : 4), 1 + (tag >> 2), size);
    }
  }
  if (to.size() != size) snappy_is_damaged();
  return to;
}

}  // namespace crochet::io::detail
