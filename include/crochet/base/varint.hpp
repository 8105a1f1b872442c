// SPDX-License-Identifier: Apache-2.0
// Numbers in LEB128, as in LevelDB tables, Snappy and protobuf: seven bits a byte, least significant group first.
#pragma once

#include <cstdint>
#include <string_view>

#include <crochet/base/error.hpp>

namespace crochet {

/// Removes a number from the front and returns it. Throws DataLossError (without a file name) if the number is cut off,
/// has more than 64 bits, or is longer than necessary: a flipped bit can lengthen a number without changing its value.
inline std::uint64_t take_varint(std::string_view& from) {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 64 && !from.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(from.front());
    from.remove_prefix(1);
    value |= std::uint64_t{byte & 0x7fu} << shift;
    if (byte == 0 && shift > 0) break;
    if (shift == 63 && byte > 1) break;
    if (byte < 0x80) return value;
  }
  throw DataLossError("a number does not end where it has to");
}

}  // namespace crochet
