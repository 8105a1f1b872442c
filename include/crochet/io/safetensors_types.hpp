// SPDX-License-Identifier: Apache-2.0
// The element types of safetensors files, and constants of the headers that this library writes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <crochet/storage/data_type.hpp>

namespace crochet::io::detail {

struct SafetensorsType {
  std::string_view name;
  DataType type;
};
/// The type names of the format, in its order. Types smaller than a byte and F8_E8M0 are not supported.
inline constexpr std::array<SafetensorsType, 18> safetensors_types{{
    {"BOOL", DataType::boolean},
    {"U8", DataType::uint8},
    {"I8", DataType::int8},
    {"F8_E5M2", DataType::float8_e5m2},
    {"F8_E4M3", DataType::float8_e4m3fn},
    {"F8_E4M3FNUZ", DataType::float8_e4m3fnuz},
    {"F8_E5M2FNUZ", DataType::float8_e5m2fnuz},
    {"I16", DataType::int16},
    {"U16", DataType::uint16},
    {"F16", DataType::float16},
    {"BF16", DataType::bfloat16},
    {"I32", DataType::int32},
    {"U32", DataType::uint32},
    {"F32", DataType::float32},
    {"C64", DataType::complex64},
    {"F64", DataType::float64},
    {"I64", DataType::int64},
    {"U64", DataType::uint64},
}};

/// The index of a type in that order; empty if safetensors has no such type.
inline std::optional<std::size_t> safetensors_rank(DataType type) {
  for (std::size_t i = 0; i < safetensors_types.size(); ++i) {
    if (safetensors_types[i].type == type) return i;
  }
  return std::nullopt;
}
inline DataType safetensors_type(std::string_view name) {
  for (const auto& known : safetensors_types) {
    if (known.name == name) return known.type;
  }
  return DataType::invalid;
}

inline constexpr std::uint64_t largest_header = 100'000'000;
/// Beginning of this library's headers. The next eight digits are the CRC-32C of length and header, computed with zeros
/// in their place.
inline constexpr std::string_view own_beginning = R"({"__metadata__":{"crochet.header_crc32c":")";
inline constexpr std::string_view no_crc = "00000000";
/// Prefix of the keys of this library's metadata.
inline constexpr std::string_view own_key = "crochet.";

}  // namespace crochet::io::detail
