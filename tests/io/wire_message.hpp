// SPDX-License-Identifier: Apache-2.0
// Protobuf messages built field by field, including messages that no generated class would write.
#pragma once

#include <bit>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include <crochet/base/little_endian.hpp>
#include <crochet/io/tfrecord.hpp>

#include "table_files.hpp"

namespace crochet::test {

/// `Message{}.text(1, "tag").real(2, 0.5f)`: each call adds a field.
class Message {
 public:
  Message& number(unsigned field, std::uint64_t value) {
    bytes_ += varint(field << 3) + varint(value);
    return *this;
  }
  Message& real(unsigned field, double value) {
    bytes_ += varint(field << 3 | 1);
    crochet::append_little_endian(bytes_, std::bit_cast<std::uint64_t>(value));
    return *this;
  }
  Message& real(unsigned field, float value) {
    bytes_ += varint(field << 3 | 5);
    crochet::append_little_endian(bytes_, std::bit_cast<std::uint32_t>(value));
    return *this;
  }
  /// A text, a message, or packed numbers.
  Message& text(unsigned field, std::string_view bytes) {
    bytes_ += varint(field << 3 | 2) + varint(bytes.size()) + std::string(bytes);
    return *this;
  }
  /// As text(), with `size` as the stored length.
  Message& lie(unsigned field, std::uint64_t size, std::string_view bytes) {
    bytes_ += varint(field << 3 | 2) + varint(size) + std::string(bytes);
    return *this;
  }
  /// Appends encoded fields.
  Message& raw(std::string_view fields) {
    bytes_ += fields;
    return *this;
  }
  operator std::string_view() const { return bytes_; }  // NOLINT(google-explicit-constructor): it is one

 private:
  std::string bytes_{};
};

/// The bytes of numbers, little-endian.
template <class T>
std::string raw(std::initializer_list<T> numbers) {
  std::string bytes;
  for (const T number : numbers) bytes.append(reinterpret_cast<const char*>(&number), sizeof number);
  return bytes;
}

/// An event with a summary of these values (serialized Summary.Value).
inline std::string event_of(double time, std::uint64_t step, std::initializer_list<std::string_view> values) {
  Message summary;
  for (const std::string_view value : values) summary.text(1, value);
  return std::string(Message{}.real(1, time).number(2, step).text(5, summary));
}

/// A record file with these records.
inline std::string record_file(std::initializer_list<std::string_view> records) {
  std::string bytes;
  for (const std::string_view record : records) io::append_tfrecord(bytes, record);
  return bytes;
}

}  // namespace crochet::test
