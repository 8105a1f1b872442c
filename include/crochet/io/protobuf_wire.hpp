// SPDX-License-Identifier: Apache-2.0
// Decodes a protobuf message field by field from its bytes. It creates no message, and copies and allocates nothing.
// Source: protobuf.dev/programming-guides/encoding.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <crochet/base/config.hpp>
#include <crochet/base/error.hpp>
#include <crochet/base/little_endian.hpp>

namespace crochet::io {

enum class WireType : std::uint8_t { varint = 0, fixed64 = 1, bytes = 2, fixed32 = 5 };

struct WireField {
  std::uint64_t number = 0;
  WireType type = WireType::varint;
  std::uint64_t value = 0;   // value of every type but bytes
  std::string_view bytes{};  // for type bytes: texts, messages, packed numbers
};

[[noreturn]] CROCHET_COLD inline void message_is_damaged() { throw DataLossError("a protobuf message is damaged"); }

/// Removes a varint from the front. Throws DataLossError if it is cut off or longer than 10 bytes.
inline std::uint64_t take_wire_varint(std::string_view& from) {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 70 && !from.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(from.front());
    from.remove_prefix(1);
    if (shift < 64) value |= std::uint64_t{byte & 0x7fu} << shift;
    if (byte < 0x80) return value;
  }
  message_is_damaged();
}

template <class Unsigned>
Unsigned take_fixed(std::string_view& from) {
  if (from.size() < sizeof(Unsigned)) message_is_damaged();
  const auto value = little_endian<Unsigned>(from);
  from.remove_prefix(sizeof(Unsigned));
  return value;
}

/// Removes one field from the front of a message. Throws DataLossError, without the file's name, if the field exceeds
/// the message, or for a group: no message of these files has groups.
inline WireField take_field(std::string_view& message) {
  const std::uint64_t tag = take_wire_varint(message);
  WireField field{.number = tag >> 3, .type = static_cast<WireType>(tag & 7)};
  switch (field.type) {
    case WireType::varint:
      field.value = take_wire_varint(message);
      return field;
    case WireType::fixed64:
      field.value = take_fixed<std::uint64_t>(message);
      return field;
    case WireType::fixed32:
      field.value = take_fixed<std::uint32_t>(message);
      return field;
    case WireType::bytes: {
      const std::uint64_t size = take_wire_varint(message);
      if (size > message.size()) message_is_damaged();
      field.bytes = message.substr(0, static_cast<std::size_t>(size));
      message.remove_prefix(static_cast<std::size_t>(size));
      return field;
    }
  }
  message_is_damaged();
}

/// Calls visit(field) for each field of a message.
template <class F>
void for_each_field(std::string_view message, F visit) {
  while (!message.empty()) visit(take_field(message));
}

inline double as_double(const WireField& field) { return std::bit_cast<double>(field.value); }
inline float as_float(const WireField& field) { return std::bit_cast<float>(static_cast<std::uint32_t>(field.value)); }
inline std::int64_t as_signed(const WireField& field) { return static_cast<std::int64_t>(field.value); }

}  // namespace crochet::io
