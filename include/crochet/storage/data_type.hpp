// SPDX-License-Identifier: Apache-2.0
// The element types of files: a superset of those of graphs.
#pragma once

#include <array>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include <crochet/base/bfloat16.hpp>

namespace crochet::io {

/// An element type. The values are TensorFlow's (`tensorflow.DataType`), the names NumPy's.
enum class DataType : std::int32_t {
  invalid = 0,
  float32 = 1,
  float64 = 2,
  int32 = 3,
  uint8 = 4,
  int16 = 5,
  int8 = 6,
  string = 7,
  complex64 = 8,
  int64 = 9,
  boolean = 10,
  qint8 = 11,
  quint8 = 12,
  qint32 = 13,
  bfloat16 = 14,
  qint16 = 15,
  quint16 = 16,
  uint16 = 17,
  complex128 = 18,
  float16 = 19,
  resource = 20,
  variant = 21,
  uint32 = 22,
  uint64 = 23,
  float8_e5m2 = 24,
  float8_e4m3fn = 25,
  float8_e4m3fnuz = 26,
  float8_e4m3b11fnuz = 27,
  float8_e5m2fnuz = 28,
  int4 = 29,
  uint4 = 30,
};

namespace detail {
struct DataTypeFacts {
  std::string_view name;
  std::size_t size;  // bytes of an element in a file; 0: not fixed
};
inline constexpr std::array<DataTypeFacts, 31> data_types{{
    {"invalid", 0},
    {"float32", 4},
    {"float64", 8},
    {"int32", 4},
    {"uint8", 1},
    {"int16", 2},
    {"int8", 1},
    {"string", 0},
    {"complex64", 8},
    {"int64", 8},
    {"bool", 1},
    {"qint8", 1},
    {"quint8", 1},
    {"qint32", 4},
    {"bfloat16", 2},
    {"qint16", 2},
    {"quint16", 2},
    {"uint16", 2},
    {"complex128", 16},
    {"float16", 2},
    {"resource", 0},
    {"variant", 0},
    {"uint32", 4},
    {"uint64", 8},
    {"float8_e5m2", 1},
    {"float8_e4m3fn", 1},
    {"float8_e4m3fnuz", 1},
    {"float8_e4m3b11fnuz", 1},
    {"float8_e5m2fnuz", 1},
    {"int4", 1},
    {"uint4", 1},
}};
}  // namespace detail

/// Whether the value is one of the above and not `invalid`. A file may contain any number.
constexpr bool is_known(DataType type) {
  const auto value = static_cast<std::int32_t>(type);
  return value > 0 && value < static_cast<std::int32_t>(detail::data_types.size());
}
/// NumPy's name of the type, such as "bool" and "float32"; "invalid" for an invalid value.
constexpr std::string_view name_of(DataType type) {
  return detail::data_types[is_known(type) ? static_cast<std::size_t>(type) : 0].name;
}
/// The type with this name, as returned by name_of(); `invalid` if there is none.
constexpr DataType data_type_named(std::string_view name) {
  for (std::size_t i = 1; i < detail::data_types.size(); ++i) {
    if (detail::data_types[i].name == name) return static_cast<DataType>(i);
  }
  return DataType::invalid;
}
/// Bytes of one element in a file; 0 if the element size is not fixed (strings, resources, variants).
constexpr std::size_t size_of(DataType type) {
  return detail::data_types[is_known(type) ? static_cast<std::size_t>(type) : 0].size;
}

/// The DataType of a C++ element type; `invalid` if there is none.
template <class T>
constexpr DataType data_type_of() {
  if constexpr (std::is_same_v<T, bool>) {
    return DataType::boolean;
  } else if constexpr (std::is_same_v<T, float>) {
    return DataType::float32;
  } else if constexpr (std::is_same_v<T, double>) {
    return DataType::float64;
  } else if constexpr (std::is_same_v<T, bfloat16>) {
    return DataType::bfloat16;
  } else if constexpr (std::is_same_v<T, std::complex<float>>) {
    return DataType::complex64;
  } else if constexpr (std::is_same_v<T, std::complex<double>>) {
    return DataType::complex128;
  } else if constexpr (std::is_integral_v<T> && sizeof(T) <= 8) {
    constexpr std::array with_sign{DataType::int8, DataType::int16, DataType::int32, DataType::int64};
    constexpr std::array without{DataType::uint8, DataType::uint16, DataType::uint32, DataType::uint64};
    constexpr std::size_t log = sizeof(T) == 1 ? 0 : sizeof(T) == 2 ? 1 : sizeof(T) == 4 ? 2 : 3;
    return std::is_signed_v<T> ? with_sign[log] : without[log];
  } else {
    return DataType::invalid;
  }
}

}  // namespace crochet::io
