// SPDX-License-Identifier: Apache-2.0
// Tensor: the input and output of debug operations. A view, with the element types of the file formats.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include <crochet/graph/core/dtype.hpp>
#include <crochet/storage/data_type.hpp>

namespace crochet::debug {

/// A view of a tensor: row-major, little-endian. Valid as long as the memory that it refers to.
struct Tensor {
  io::DataType dtype = io::DataType::invalid;
  std::span<const std::int64_t> shape{};
  std::span<const std::byte> bytes{};
  bool initialized = true;  ///< false: a declared type and shape without a value; `bytes` and `strings` are empty
  std::span<const std::string> strings{};  ///< instead of `bytes` where the type is DataType::string

  [[nodiscard]] std::int64_t elements() const {
    std::int64_t product = 1;
    for (const std::int64_t extent : shape) product *= extent;
    return product;
  }
  /// Size of the elements in bytes; for strings, of their texts. Cost: one addition per string.
  [[nodiscard]] std::size_t byte_size() const {
    std::size_t size = bytes.size();
    for (const std::string& text : strings) size += text.size();
    return size;
  }
};

/// The element type of a graph's tensor in the file formats.
constexpr io::DataType data_type_of(DType type) {
  constexpr std::array types{io::DataType::float32, io::DataType::float64, io::DataType::int32,   io::DataType::int64,
                             io::DataType::uint8,   io::DataType::boolean, io::DataType::bfloat16};
  return types[static_cast<std::size_t>(type)];
}

/// One tensor published by one debug operation: `<node>:<slot>:<op>` on a device at a time.
struct DebugEvent {
  std::string_view device;
  std::string_view node;  ///< without the slot
  std::int32_t slot = 0;
  std::string_view op;            ///< the debug operation's name without attributes
  std::int64_t microseconds = 0;  ///< since 1970, UTC
  Tensor tensor{};
};

}  // namespace crochet::debug
