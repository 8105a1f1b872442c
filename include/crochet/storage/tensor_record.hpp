// SPDX-License-Identifier: Apache-2.0
// TensorRecord: a named tensor to write. TensorEntry: a tensor of a checkpoint, without its elements.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <crochet/base/error.hpp>
#include <crochet/storage/data_type.hpp>

namespace crochet::io {

/// A tensor to write. It owns nothing: its name, shape and elements must live until it is written.
struct TensorRecord {
  std::string_view name{};
  DataType type = DataType::float32;
  std::span<const std::int64_t> shape{};   // empty: a scalar
  std::span<const std::byte> bytes{};      // row-major, native byte order (little-endian)
  std::span<const std::string> strings{};  // instead of bytes, for DataType::string
};

/// The TensorRecord of a span of elements.
template <class T>
TensorRecord tensor_record(std::string_view name, std::span<const T> elements, std::span<const std::int64_t> shape) {
  static_assert(data_type_of<T>() != DataType::invalid, "crochet: files have no element type for this C++ type");
  return {name, data_type_of<T>(), shape, std::as_bytes(elements), {}};
}

/// The metadata of a tensor in a checkpoint.
struct TensorEntry {
  std::string name{};
  DataType type = DataType::float32;
  std::vector<std::int64_t> shape{};
  std::size_t elements = 1;   // the product of the shape
  std::size_t byte_size = 0;  // size of the elements in bytes; 0 for strings
};

/// The product of a shape; empty if a dimension is negative or the product overflows.
inline std::optional<std::size_t> element_count(std::span<const std::int64_t> shape) {
  constexpr auto most = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  bool empty = false;
  std::uint64_t count = 1;
  for (const std::int64_t size : shape) {
    if (size < 0) return std::nullopt;
    empty = empty || size == 0;
    if (size != 0 && count > most / static_cast<std::uint64_t>(size)) return std::nullopt;
    if (size != 0) count *= static_cast<std::uint64_t>(size);
  }
  return static_cast<std::size_t>(empty ? 0 : count);
}

/// The size in bytes of `elements` elements of a type; empty if it overflows. 0 for strings.
inline std::optional<std::size_t> byte_count(DataType type, std::size_t elements) {
  const std::size_t size = size_of(type);
  constexpr auto most = static_cast<std::size_t>(std::numeric_limits<std::int64_t>::max());
  if (size != 0 && elements > most / size) return std::nullopt;
  return size * elements;
}

/// Throws LogicError, with the name, for a record whose parts are inconsistent. For implementations of formats.
inline void check_record(const TensorRecord& record) {
  const auto fail = [&](const std::string& why) {
    throw LogicError("crochet: tensor \"" + std::string(record.name) + "\" cannot be saved: " + why);
  };
  if (record.name.empty() || record.name.front() == '\0') fail("its name is empty or begins with a zero byte");
  const std::optional<std::size_t> elements = element_count(record.shape);
  if (!elements) fail("its shape has a negative dimension, or too many elements to count");
  if (record.type == DataType::string) {
    if (record.strings.size() != *elements || !record.bytes.empty()) fail("its shape and its strings do not agree");
    return;
  }
  if (size_of(record.type) == 0) fail("elements of type " + std::string(name_of(record.type)) + " have no bytes");
  const std::optional<std::size_t> bytes = byte_count(record.type, *elements);
  if (bytes != record.bytes.size() || !record.strings.empty()) {
    fail("its shape asks for " + std::to_string(*elements) + " elements of type " + std::string(name_of(record.type)) +
         ", but it has " + std::to_string(record.bytes.size()) + " bytes");
  }
}

}  // namespace crochet::io
