// SPDX-License-Identifier: Apache-2.0
// Computes the memory of a parsed protobuf message without parsing it.
#pragma once

#include <google/protobuf/descriptor.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <crochet/base/error.hpp>
#include <crochet/debug/event/message_walk.hpp>

namespace crochet::debug {

namespace detail {

/// Walks through a message with its descriptor and adds the memory that its parts need after parsing. The numbers are
/// upper bounds for protobuf 3.21 and later on 64-bit machines.
class ParsedSize {
 public:
  ParsedSize(google::protobuf::io::ZeroCopyInputStream& from, std::uint64_t size, std::uint64_t most)
      : in_(from, size), most_(most) {}

  std::uint64_t of(const google::protobuf::Descriptor& type) {
    add(message_bytes(type));
    in_.fields([&](std::uint32_t tag) { return field(type, tag); });
    return bytes_;
  }

 private:
  using Field = google::protobuf::FieldDescriptor;

  static constexpr std::uint64_t text_bytes = 96;      // a std::string on the heap, its array entry, its heap block
  static constexpr std::uint64_t unknown_bytes = 128;  // an unknown field with a text
  static constexpr std::uint64_t map_bytes = 160;      // a hash table node and its share of the table
  static constexpr int max_depth = 100;                // protobuf's own limit

  /// The object, its heap block and its array entry.
  static std::uint64_t message_bytes(const google::protobuf::Descriptor& type) {
    std::uint64_t bytes = 64;
    for (int i = 0; i < type.field_count(); ++i) bytes += type.field(i)->is_repeated() ? 32 : 16;
    return bytes;
  }
  void add(std::uint64_t bytes) {
    bytes_ += bytes;
    if (bytes_ > most_) {
      throw ResourceExhaustedError("it would take more than " + std::to_string(most_) + " bytes of memory");
    }
  }
  bool field(const google::protobuf::Descriptor& type, std::uint32_t tag) {
    const Field* const field = type.FindFieldByNumber(static_cast<int>(tag >> 3));
    const std::uint32_t wire = tag & 7;
    if (field == nullptr || (wire != wire_type(*field) && !(wire == 2 && field->is_packable()))) return unknown(tag);
    if (wire != 2) {
      add(field->is_repeated() ? 32 : 0);  // an element of a repeated, unpacked number
      return false;
    }
    if (field->type() == Field::TYPE_MESSAGE) return message(*field);
    if (field->type() == Field::TYPE_STRING || field->type() == Field::TYPE_BYTES) return text(text_bytes);
    return packed(*field);
  }
  /// How one value of the field is encoded.
  static std::uint32_t wire_type(const Field& field) {
    switch (field.type()) {
      case Field::TYPE_DOUBLE:
      case Field::TYPE_FIXED64:
      case Field::TYPE_SFIXED64:
        return 1;
      case Field::TYPE_STRING:
      case Field::TYPE_BYTES:
      case Field::TYPE_MESSAGE:
        return 2;
      case Field::TYPE_FLOAT:
      case Field::TYPE_FIXED32:
      case Field::TYPE_SFIXED32:
        return 5;
      default:
        return 0;
    }
  }
  /// A field that the type does not have, or that is encoded in another way: protobuf keeps it.
  bool unknown(std::uint32_t tag) {
    add(unknown_bytes);
    if ((tag & 7) == 2) return text(0);
    if ((tag & 7) != 3) return false;
    if (++depth_ > max_depth) throw DataLossError("its messages are nested too deeply");
    in_.group(tag, [&](std::uint32_t part) { return unknown(part); });
    --depth_;
    return true;
  }
  bool message(const Field& field) {
    if (++depth_ > max_depth) throw DataLossError("its messages are nested too deeply");
    add(field.is_map() ? map_bytes : 0);
    add(message_bytes(*field.message_type()));
    in_.nested([&](std::uint32_t tag) { return this->field(*field.message_type(), tag); });
    --depth_;
    return true;
  }
  bool text(std::uint64_t around) {
    const std::uint64_t size = in_.length();
    add(around + size);
    in_.skip(size);
    return true;
  }
  /// A growing array doubles its capacity, and the old array exists during the copy.
  bool packed(const Field& field) {
    const bool fixed = field.type() == Field::TYPE_FLOAT || field.type() == Field::TYPE_DOUBLE ||
                       field.type() == Field::TYPE_FIXED32 || field.type() == Field::TYPE_FIXED64 ||
                       field.type() == Field::TYPE_SFIXED32 || field.type() == Field::TYPE_SFIXED64;
    const std::uint64_t size = in_.length();
    add(fixed ? size : 32 * size);
    in_.skip(size);
    return true;
  }

  MessageWalk in_;
  const std::uint64_t most_;
  std::uint64_t bytes_ = 0;
  int depth_ = 0;
};

}  // namespace detail

/// An upper bound, in bytes, of the memory of a message of this type, parsed from the `size` bytes of `from`. Throws
/// DataLossError for bytes that are not such a message, and ResourceExhaustedError as soon as the bound exceeds `most`;
/// neither names a file. Memory: constant. Cost: one pass over the bytes.
inline std::uint64_t parsed_size(const google::protobuf::Descriptor& type,
                                 google::protobuf::io::ZeroCopyInputStream& from, std::uint64_t size,
                                 std::uint64_t most) {
  return detail::ParsedSize(from, size, most).of(type);
}

}  // namespace crochet::debug
