// SPDX-License-Identifier: Apache-2.0
// The idx format of the MNIST family: two zero bytes, element type, rank, one big-endian 32-bit extent per dimension,
// then the elements, big-endian and row-major. Reads it plain or gzipped, and validates every field.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include <crochet/base/config.hpp>
#include <crochet/base/hex.hpp>
#include <crochet/base/tensor_view.hpp>
#include <crochet/data/array_file.hpp>
#include <crochet/data/gzip.hpp>
#include <crochet/storage/input_file.hpp>

namespace crochet::io {

/// The limits of read_idx(), whatever the file's header claims.
struct IdxLimits {
  std::uint64_t max_bytes = std::uint64_t{1} << 30;  ///< of element data, unpacked; MNIST's largest file has 47 million
};

/// The content of an idx file: `data` is row-major with extents `shape`.
template <class T, std::size_t Rank>
struct IdxArray {
  std::array<std::int64_t, Rank> shape{};
  std::vector<T> data;

  /// Valid until this array is changed or moved from.
  [[nodiscard]] TensorView<T, Rank> view() const { return TensorView<T, Rank>{data.data(), shape}; }
};

/// The type byte of an idx file with elements of type T; 0 if the format does not support T.
template <class T>
inline constexpr std::uint8_t idx_type_code = 0;
template <>
inline constexpr std::uint8_t idx_type_code<std::uint8_t> = 0x08;
template <>
inline constexpr std::uint8_t idx_type_code<std::int8_t> = 0x09;
template <>
inline constexpr std::uint8_t idx_type_code<std::int16_t> = 0x0b;
template <>
inline constexpr std::uint8_t idx_type_code<std::int32_t> = 0x0c;
template <>
inline constexpr std::uint8_t idx_type_code<float> = 0x0d;
template <>
inline constexpr std::uint8_t idx_type_code<double> = 0x0e;

}  // namespace crochet::io

namespace crochet::detail {

CROCHET_COLD inline void idx_read_magic(io::GzipFile& file, std::uint8_t type_code, std::size_t rank) {
  std::array<std::uint8_t, 4> magic{};
  read_array_part(file, magic, "idx magic number");
  if (magic[0] != 0 || magic[1] != 0)
    file.fail("not an idx file: it starts with 0x" + hex(magic[0]) + " 0x" + hex(magic[1]) +
                  " where an idx file has two zero bytes",
              "name an idx file, plain or gzipped");
  if (magic[2] != type_code)
    file.fail("its element type is 0x" + hex(magic[2]) + ", expected 0x" + hex(type_code), "name the right idx file");
  if (magic[3] != rank)
    file.fail("it has " + std::to_string(magic[3]) + " dimensions, expected " + std::to_string(rank),
              "name the right idx file (images have 3 dimensions, labels 1)");
}

template <std::size_t Rank>
std::array<std::int64_t, Rank> idx_read_shape(io::GzipFile& file) {
  std::array<std::uint8_t, 4 * Rank> bytes{};
  read_array_part(file, bytes, "list of dimensions");
  std::array<std::int64_t, Rank> shape{};
  for (std::size_t i = 0; i < bytes.size(); ++i) shape[i / 4] = shape[i / 4] << 8 | bytes[i];
  return shape;
}

template <class T>
void idx_to_native(std::vector<T>& data) {
  if constexpr (sizeof(T) > 1 && std::endian::native == std::endian::little) {
    for (T& value : data) {
      std::array<unsigned char, sizeof(T)> bytes{};
      std::memcpy(bytes.data(), &value, sizeof(T));
      std::reverse(bytes.begin(), bytes.end());
      std::memcpy(&value, bytes.data(), sizeof(T));
    }
  }
}

}  // namespace crochet::detail

namespace crochet::io {

/// Reads an idx file, plain or gzipped, with elements of type T and Rank dimensions.
/// - Throws: IoError if the file is missing or unreadable; DataLossError if it is no idx file, has another element type
///   or rank, is truncated or corrupt (gzip checksum), has trailing bytes, or is larger than `limits`;
///   ResourceExhaustedError if memory is exhausted.
/// - Memory: at most the larger of 8 bytes per byte of the file and 3 bytes per byte of actual elements
///   (docs/file-formats.md), independent of the size in the header. One allocation if the file expands to at most 8
///   times its size.
template <class T, std::size_t Rank>
CROCHET_COLD IdxArray<T, Rank> read_idx(const std::filesystem::path& path, IdxLimits limits = {},
                                        FileSystem& files = local_files()) {
  static_assert(idx_type_code<T> != 0, "idx files hold uint8, int8, int16, int32, float or double");
  static_assert(Rank > 0 && Rank < 256, "the rank of an idx file is one byte, and not zero");
  constexpr std::uint64_t header_bytes = 4 + 4 * Rank;
  constexpr std::uint64_t one_more = 1;  // read only to check that nothing follows
  const std::uint64_t max_bytes = std::min(limits.max_bytes, UINT64_MAX - header_bytes - one_more);

  return detail::reading(path, [&] {
    GzipFile file(path, header_bytes + max_bytes + one_more, files);
    crochet::detail::idx_read_magic(file, idx_type_code<T>, Rank);
    IdxArray<T, Rank> array{crochet::detail::idx_read_shape<Rank>(file), {}};
    crochet::detail::read_array_data(
        file, array.data,
        crochet::detail::array_bytes(file, array.shape, sizeof(T), max_bytes, "IdxLimits::max_bytes") / sizeof(T));
    crochet::detail::idx_to_native(array.data);
    return array;
  });
}

}  // namespace crochet::io
