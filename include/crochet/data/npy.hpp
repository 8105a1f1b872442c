// SPDX-License-Identifier: Apache-2.0
// read_npy, write_npy: arrays in NumPy's .npy format. (NEP 1 and numpy.lib.format describe versions 1.0 to 3.0.)
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <new>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <crochet/base/config.hpp>
#include <crochet/base/error.hpp>
#include <crochet/base/tensor_view.hpp>
#include <crochet/data/array_file.hpp>
#include <crochet/data/gzip.hpp>
#include <crochet/data/npy_header.hpp>
#include <crochet/data/shared_array.hpp>
#include <crochet/data/table_column.hpp>
#include <crochet/storage/file_system.hpp>
#include <crochet/storage/npy.hpp>

namespace crochet {

/// The limits of read_npy(), whatever the file's header claims.
struct NpyLimits {
  std::uint64_t max_bytes = std::uint64_t{1} << 34;  ///< of element data, unpacked
};

namespace detail {

inline constexpr std::uint64_t npy_most_header_bytes = 65536;

/// The dict of the header. Throws DataLossError for a file of another format or version, and for a damaged header.
CROCHET_COLD inline NpyHeader npy_read_header(io::GzipFile& file) {
  std::array<std::uint8_t, 8> magic{};
  read_array_part(file, magic, "magic number of the .npy format");
  if (!std::equal(magic.begin(), magic.begin() + 6, io::npy_magic.begin(), io::npy_magic.end(),
                  [](std::uint8_t a, char b) { return a == static_cast<std::uint8_t>(b); }))
    file.fail("not a .npy file", "write it by numpy.save(); of a .npz archive, unpack the .npy file");
  if (magic[6] < 1 || magic[6] > 3)
    file.fail("version " + std::to_string(magic[6]) + " of the .npy format; versions 1 to 3 are readable",
              "write it by numpy.save()");
  std::array<std::uint8_t, 4> size{};
  read_array_part(file, std::span(size).first(magic[6] == 1 ? 2 : 4), "size of the header");
  const std::uint64_t bytes = std::uint64_t{size[0]} | std::uint64_t{size[1]} << 8 | std::uint64_t{size[2]} << 16 |
                              std::uint64_t{size[3]} << 24;
  if (bytes > npy_most_header_bytes)
    file.fail("its header has " + std::to_string(bytes) + " bytes, at most " + std::to_string(npy_most_header_bytes) +
                  " are readable",
              "save a plain array, without named fields");
  std::string text(static_cast<std::size_t>(bytes), '\0');
  read_array_part(file, {reinterpret_cast<std::uint8_t*>(text.data()), text.size()}, "header");
  NpyHeader header = NpyHeaderParser(text).parse();
  if (!header.valid)
    file.fail("its header " + cell_text(text) + " does not describe a plain array",
              "write the array by numpy.save(), without named fields");
  return header;
}

/// The shape. Throws DataLossError for another element type, order or number of dimensions.
template <class T, std::size_t Rank>
std::array<std::int64_t, Rank> npy_shape(const io::GzipFile& file, const NpyHeader& header) {
  const std::string wanted = io::npy_type<T>();
  if (header.type != wanted)
    file.fail("its elements are " + cell_text(header.type) + ", expected " + cell_text(wanted) + " (" +
                  std::string(element_name<T>()) + ")",
              "read the type that the file has, or save array.astype('" + wanted + "')");
  if (header.shape.size() != Rank)
    file.fail("its shape is " + shape_text(header.shape) + ", expected " + std::to_string(Rank) + " dimension(s)",
              header.shape.empty()
                  ? "save array.reshape(1)"
                  : "read_npy<T, " + std::to_string(header.shape.size()) + "> reads it, or save array.reshape(...)");
  if (header.fortran_order && Rank > 1)
    file.fail("its elements are in Fortran order", "save numpy.ascontiguousarray(array)");
  std::array<std::int64_t, Rank> shape{};
  std::copy_n(header.shape.begin(), Rank, shape.begin());
  return shape;
}

}  // namespace detail

/// Reads a .npy file, plain or gzipped, with elements of type T and Rank dimensions, in C order and in this machine's
/// byte order: `field<"x">(read_npy<float, 2>("x.npy"))`.
/// - Throws: IoError if the file is missing or unreadable; DataLossError if it is no .npy file, has another element
///   type, order or number of dimensions, is truncated or corrupt, has trailing bytes, or is larger than `limits`;
///   ResourceExhaustedError if memory is exhausted.
/// - Memory: as read_idx(): by the bytes of the file, independent of the size in the header (docs/file-formats.md).
template <DataElement T, std::size_t Rank = 1>
CROCHET_COLD SharedArray<T, Rank> read_npy(const std::filesystem::path& path, NpyLimits limits = {},
                                           io::FileSystem& files = io::local_files()) {
  constexpr std::uint64_t one_more = 1;  // read only to check that nothing follows
  constexpr std::uint64_t before = 12 + detail::npy_most_header_bytes + one_more;
  const std::uint64_t max_bytes = std::min(limits.max_bytes, UINT64_MAX - before);
  try {
    io::GzipFile file(path, before + max_bytes, files);
    const auto shape = detail::npy_shape<T, Rank>(file, detail::npy_read_header(file));
    const std::uint64_t bytes = detail::array_bytes(file, shape, sizeof(T), max_bytes, "NpyLimits::max_bytes");
    std::vector<T> values;
    detail::read_array_data(file, values, bytes / sizeof(T));
    return SharedArray<T, Rank>{std::move(values), shape};
  } catch (const std::bad_alloc&) {
    throw ResourceExhaustedError(path.string() +
                                 ": there is not enough memory for it; free some, or save a part of it");
  }
}

/// Writes an array to a .npy file, atomically: the file is complete or does not exist. Throws IoError.
template <DataElement T, std::size_t Rank>
CROCHET_COLD void write_npy(const std::filesystem::path& path, TensorView<T, Rank> array) {
  io::write_npy<T>(path, std::span<const T>(array.data(), array.size()), array.shape());
}
template <DataElement T, std::size_t Rank>
CROCHET_COLD void write_npy(const std::filesystem::path& path, const SharedArray<T, Rank>& array) {
  write_npy(path, array.view());
}

}  // namespace crochet
