// SPDX-License-Identifier: Apache-2.0
// Keys that sort as bytes like the values they encode: TensorFlow's "ordered code". A TensorBundle uses it for the keys
// of the parts of a partitioned tensor.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace crochet::io::detail {

/// Text: 00 becomes 00 ff, ff becomes ff 00, and 00 01 ends it.
inline void append_ordered_text(std::string& key, std::string_view text) {
  for (const char c : text) {
    key += c;
    if (c == '\0') key += '\xff';
    if (c == '\xff') key += '\0';
  }
  key += '\0';
  key += '\x01';
}

/// Unsigned number: its length in bytes, then the bytes, most significant first.
inline void append_ordered_number(std::string& key, std::uint64_t value) {
  std::string digits;
  for (; value != 0; value >>= 8) digits.insert(digits.begin(), static_cast<char>(value & 0xff));
  key += static_cast<char>(digits.size());
  key += digits;
}

/// Signed number: sign and length (1 to 10 bytes, unary) in the first bits, then two's complement.
inline void append_ordered_signed(std::string& key, std::int64_t value) {
  const std::uint64_t magnitude = value < 0 ? ~static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value);
  unsigned length = 1;
  while (length < 10 && (magnitude >> (7 * length - 1)) != 0) ++length;
  std::string bytes(length, value < 0 ? '\xff' : '\0');
  for (unsigned i = 0; i < length && i < 8; ++i) {
    bytes[length - 1 - i] = static_cast<char>((static_cast<std::uint64_t>(value) >> (8 * i)) & 0xff);
  }
  const unsigned ones = ((1u << length) - 1) << (16 - length);  // `length` ones at the top of two bytes
  bytes[0] = static_cast<char>(static_cast<unsigned char>(bytes[0]) ^ (ones >> 8));
  if (length > 1) bytes[1] = static_cast<char>(static_cast<unsigned char>(bytes[1]) ^ (ones & 0xff));
  key += bytes;
}

/// Start and length of a part along one dimension. A length of -1 is the whole dimension.
struct SliceExtent {
  std::int64_t start = 0;
  std::int64_t length = -1;
};

/// The key of a part of the tensor `name`.
inline std::string slice_key(std::string_view name, std::span<const SliceExtent> extents) {
  std::string key;
  append_ordered_number(key, 0);
  append_ordered_text(key, name);
  append_ordered_number(key, extents.size());
  for (const SliceExtent& extent : extents) {
    append_ordered_signed(key, extent.start);
    append_ordered_signed(key, extent.length);
  }
  return key;
}

}  // namespace crochet::io::detail
