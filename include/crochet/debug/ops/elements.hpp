// SPDX-License-Identifier: Apache-2.0
// Visits the elements of a tensor of any element type as C++ numbers.
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include <crochet/debug/ops/small_float.hpp>
#include <crochet/storage/data_type.hpp>

namespace crochet::debug {

namespace detail {
template <class T, class F>
void each_as(std::span<const std::byte> bytes, F each) {
  for (std::size_t at = 0; at + sizeof(T) <= bytes.size(); at += sizeof(T)) {
    T element;
    std::memcpy(&element, bytes.data() + at, sizeof(T));
    each(element);
  }
}

template <class F>
void each_small_float(io::DataType type, std::span<const std::byte> bytes, F each) {
  const SmallFloat layout = small_float(type);
  if (io::size_of(type) == 1) {
    each_as<std::uint8_t>(bytes, [&](std::uint8_t bits) { each(decode(layout, bits)); });
  } else {
    each_as<std::uint16_t>(bytes, [&](std::uint16_t bits) { each(decode(layout, bits)); });
  }
}

/// The low four bits of a byte as int4 or uint4; the upper four are unspecified.
inline std::int8_t low_nibble(std::uint8_t bits, bool with_sign) {
  const int low = bits & 15;
  return static_cast<std::int8_t>(with_sign && low > 7 ? low - 16 : low);
}
}  // namespace detail

/// Calls `each` for each element, in order, as bool, a floating or integer type, or std::complex. Small floats are
/// converted to float; quantized types are passed as their integers. Types without a size (strings, resources,
/// variants) have no elements here. `bytes` holds a whole number of elements.
template <class F>
void for_each_element(io::DataType type, std::span<const std::byte> bytes, F each) {
  using enum io::DataType;
  switch (type) {
    case float32:
      return detail::each_as<float>(bytes, each);
    case float64:
      return detail::each_as<double>(bytes, each);
    case int8:
    case qint8:
      return detail::each_as<std::int8_t>(bytes, each);
    case int16:
    case qint16:
      return detail::each_as<std::int16_t>(bytes, each);
    case int32:
    case qint32:
      return detail::each_as<std::int32_t>(bytes, each);
    case int64:
      return detail::each_as<std::int64_t>(bytes, each);
    case uint8:
    case quint8:
      return detail::each_as<std::uint8_t>(bytes, each);
    case uint16:
    case quint16:
      return detail::each_as<std::uint16_t>(bytes, each);
    case uint32:
      return detail::each_as<std::uint32_t>(bytes, each);
    case uint64:
      return detail::each_as<std::uint64_t>(bytes, each);
    case complex64:
      return detail::each_as<std::complex<float>>(bytes, each);
    case complex128:
      return detail::each_as<std::complex<double>>(bytes, each);
    case boolean:  // a byte from a file can be neither 0 nor 1, which is not a valid bool
      return detail::each_as<std::uint8_t>(bytes, [&](std::uint8_t byte) { each(byte != 0); });
    case int4:
    case uint4:
      return detail::each_as<std::uint8_t>(bytes,
                                           [&](std::uint8_t byte) { each(detail::low_nibble(byte, type == int4)); });
    default:
      if (small_float(type).exponent_bits != 0) detail::each_small_float(type, bytes, each);
  }
}

}  // namespace crochet::debug
