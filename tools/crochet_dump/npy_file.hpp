// SPDX-License-Identifier: Apache-2.0
// Writes a tensor of a dump to a file for numpy.load.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <crochet/base/error.hpp>
#include <crochet/debug/dump/dumped_tensor.hpp>
#include <crochet/debug/ops/elements.hpp>
#include <crochet/storage/data_type.hpp>
#include <crochet/storage/npy.hpp>
#include <crochet/storage/whole_file.hpp>

namespace crochet_dump {

namespace detail {

/// numpy's name of the type; empty if numpy has none, then float32 is written.
inline std::string npy_type(crochet::io::DataType type) {
  using enum crochet::io::DataType;
  switch (type) {
    case boolean:
      return "|b1";
    case int8:
    case qint8:
    case int4:
      return "|i1";
    case uint8:
    case quint8:
    case uint4:
      return "|u1";
    case int16:
    case qint16:
      return "<i2";
    case uint16:
    case quint16:
      return "<u2";
    case int32:
    case qint32:
      return "<i4";
    case uint32:
      return "<u4";
    case int64:
      return "<i8";
    case uint64:
      return "<u8";
    case float16:
      return "<f2";
    case float32:
      return "<f4";
    case float64:
      return "<f8";
    case complex64:
      return "<c8";
    case complex128:
      return "<c16";
    default:
      return "";
  }
}

/// Types whose bytes differ from those of numpy's type, or that numpy does not have.
inline bool is_converted(crochet::io::DataType type) {
  using enum crochet::io::DataType;
  return npy_type(type).empty() || type == int4 || type == uint4 || type == boolean;
}

inline void write_numbers(const crochet::debug::DumpedTensor& tensor, crochet::io::TemporaryFile& file) {
  tensor.for_each_piece([&](std::span<const std::byte> piece) {
    if (!is_converted(tensor.dtype())) return file.write(piece);
    std::vector<std::byte> converted;
    crochet::debug::for_each_element(tensor.dtype(), piece, [&](auto element) {
      const auto bytes = std::as_bytes(std::span{&element, 1});
      converted.insert(converted.end(), bytes.begin(), bytes.end());
    });
    file.write(converted);
  });
}

/// Length of the longest string. All elements of a numpy bytes array have this length, padded with zero bytes, which
/// numpy removes again.
inline std::size_t longest_string(const crochet::debug::DumpedTensor& tensor) {
  std::size_t longest = 1;
  tensor.for_each_string([&](const std::string& text) {
    if (text.ends_with('\0')) {
      throw crochet::IoError("crochet: numpy's .npy has no strings that end in a zero byte, and this tensor has one");
    }
    longest = std::max(longest, text.size());
  });
  return longest;
}

}  // namespace detail

/// Writes the tensor, completely or not at all. bfloat16 and the float8 types become float32, which represents all
/// their numbers; strings become numpy's bytes of one length. Throws IoError for a failed write, and for a tensor that
/// the format cannot represent: one without a value, resources, strings that end in a zero byte.
inline void write_npy_file(const std::filesystem::path& path, const crochet::debug::DumpedTensor& tensor) {
  const bool strings = tensor.dtype() == crochet::io::DataType::string;
  if (tensor.state() != crochet::debug::TensorState::values || (!strings && !tensor.has_numbers())) {
    throw crochet::IoError("crochet: the tensor has no elements that " + path.string() + " could hold");
  }
  const std::size_t longest = strings ? detail::longest_string(tensor) : 0;
  std::string type = strings ? "|S" + std::to_string(longest) : detail::npy_type(tensor.dtype());
  if (type.empty()) type = "<f4";
  crochet::io::TemporaryFile file{path};
  const std::string header = crochet::io::npy_header(type, tensor.shape());
  file.write(std::as_bytes(std::span{header}));
  if (strings) {
    tensor.for_each_string([&](std::string text) {
      text.resize(longest, '\0');
      file.write(std::as_bytes(std::span{text}));
    });
  } else {
    detail::write_numbers(tensor, file);
  }
  file.close();
  file.rename();
}

}  // namespace crochet_dump
