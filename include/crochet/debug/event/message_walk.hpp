// SPDX-License-Identifier: Apache-2.0
// Reads a protobuf message field by field without constructing it; large fields are skipped.
#pragma once

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream.h>

#include <bit>
#include <cstdint>
#include <string>

#include <crochet/base/config.hpp>
#include <crochet/base/error.hpp>
#include <crochet/debug/event/event_limits.hpp>

namespace crochet::debug {

namespace detail {

using google::protobuf::io::CodedInputStream;

constexpr std::uint32_t varint_field(int number) { return static_cast<std::uint32_t>(number) << 3; }
constexpr std::uint32_t bytes_field(int number) { return varint_field(number) | 2; }

/// Reads a message field by field. Every length is checked against the rest of the enclosing message. Fields that the
/// callback rejects are skipped; groups may be nested up to protobuf's depth of 100.
class MessageWalk {
 public:
  MessageWalk(google::protobuf::io::ZeroCopyInputStream& from, std::uint64_t size) : in_(&from) {
    if (size > max_event) throw DataLossError("it is larger than a message can be");
    in_.PushLimit(static_cast<int>(size));
  }

  /// Calls `field(tag)` for each field. It reads the field and returns true, or returns false and the field is skipped.
  template <class F>
  void fields(F field) {
    while (in_.BytesUntilLimit() > 0) {
      const std::uint32_t tag = in_.ReadTag();
      if (tag == 0) fail();
      if (!field(tag)) skip_field(tag, 0);
    }
  }
  /// Calls `field(tag)` for the fields of the nested message at the current position.
  template <class F>
  void nested(F field) {
    within(length(), field);
  }
  /// The same for a message of `size` bytes, after its length() has been read.
  template <class F>
  void within(std::uint64_t size, F field) {
    const int outer = in_.PushLimit(static_cast<int>(size));
    fields(field);
    in_.PopLimit(outer);
  }
  /// The same for the group whose first tag, `begin`, has been read.
  template <class F>
  void group(std::uint32_t begin, F field) {
    for (;;) {
      const std::uint32_t tag = in_.ReadTag();
      if (tag == begin + 1) return;
      if (tag == 0) fail();
      if (!field(tag)) skip_field(tag, 0);
    }
  }
  std::uint64_t number() {
    std::uint64_t value = 0;
    if (!in_.ReadVarint64(&value)) fail();
    return value;
  }
  double real() {
    std::uint64_t bits = 0;
    if (!in_.ReadLittleEndian64(&bits)) fail();
    return std::bit_cast<double>(bits);
  }
  void text(std::string& to) {
    const std::uint64_t size = length();
    if (size > max_text) throw DataLossError("it has a text of " + std::to_string(size) + " bytes");
    bytes(to, size);
  }
  void bytes(std::string& to, std::uint64_t size) {
    if (!in_.ReadString(&to, static_cast<int>(size))) fail();
  }
  /// Reads the length of the field at the current position. It is within the message.
  std::uint64_t length() {
    const std::uint64_t size = number();
    if (size > static_cast<std::uint64_t>(in_.BytesUntilLimit())) fail();
    return size;
  }
  void skip(std::uint64_t size) {
    if (!in_.Skip(static_cast<int>(size))) fail();
  }
  [[nodiscard]] std::uint64_t position() const { return static_cast<std::uint64_t>(in_.CurrentPosition()); }

 private:
  static constexpr int max_depth = 100;  // nested groups: protobuf's own limit

  void skip_field(std::uint32_t tag, int depth) {
    if ((tag >> 3) == 0 || depth > max_depth) fail();
    switch (tag & 7) {
      case 0:
        number();
        return;
      case 1:
        return skip(8);
      case 2:
        return skip(length());
      case 3:
        return skip_group(tag, depth);
      case 5:
        return skip(4);
      default:
        fail();
    }
  }
  /// Skips to the end of the group that `begin` opened.
  void skip_group(std::uint32_t begin, int depth) {
    group(begin, [&](std::uint32_t tag) {
      skip_field(tag, depth + 1);
      return true;
    });
  }
  [[noreturn]] CROCHET_COLD static void fail() { throw DataLossError("it ends within, or is no protobuf message"); }

  CodedInputStream in_;
};

}  // namespace detail
}  // namespace crochet::debug
