// SPDX-License-Identifier: Apache-2.0
// NumPy's .npy format, version 1.0: one tensor; numpy.load and many other programs read it.
#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <crochet/base/bfloat16.hpp>
#include <crochet/storage/whole_file.hpp>

namespace crochet::io {

/// The first bytes of a .npy file.
inline constexpr std::string_view npy_magic = "\x93NUMPY";

/// NumPy's spelling of an element type: "<f4".
template <class T>
requires std::is_arithmetic_v<T> std::string npy_type() {
  if constexpr (std::same_as<T, bool>) return "|b1";
  static_assert(sizeof(T) < 10);
  constexpr char order = sizeof(T) == 1 ? '|' : std::endian::native == std::endian::little ? '<' : '>';
  constexpr char kind = std::floating_point<T> ? 'f' : std::is_signed_v<T> ? 'i' : 'u';
  return {order, kind, static_cast<char>('0' + sizeof(T))};
}

/// The header before the elements, for an element type in NumPy's spelling. Its size is a multiple of 64 bytes.
inline std::string npy_header(const std::string& type, std::span<const std::int64_t> shape) {
  std::string text = "{'descr': '" + type + "', 'fortran_order': False, 'shape': (";
  for (const std::int64_t extent : shape) text += std::to_string(extent) + ",";
  text += "), }";
  constexpr std::size_t before = 10;  // magic, version, length
  text.append(63 - (before + text.size()) % 64, ' ') += '\n';
  std::string header{npy_magic};
  header.append({'\x01', '\x00', static_cast<char>(text.size() & 0xff), static_cast<char>(text.size() >> 8)});
  return header + text;
}
template <class T>
std::string npy_header(std::span<const std::int64_t> shape) {
  return npy_header(npy_type<T>(), shape);
}

/// Writes a row-major tensor atomically: the file is complete or does not exist. An empty shape is a scalar. Throws
/// IoError.
template <class T>
void write_npy(const std::filesystem::path& path, std::span<const T> elements, std::span<const std::int64_t> shape) {
  const std::string header = npy_header<T>(shape);
  write_whole_file(path, {std::as_bytes(std::span{header}), std::as_bytes(elements)});
}

/// As above. NumPy has no bfloat16: the file has floats.
inline void write_npy(const std::filesystem::path& path, std::span<const bfloat16> elements,
                      std::span<const std::int64_t> shape) {
  const std::vector<float> floats(elements.begin(), elements.end());
  write_npy(path, std::span<const float>(floats), shape);
}

}  // namespace crochet::io
