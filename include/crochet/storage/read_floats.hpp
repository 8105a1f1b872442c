// SPDX-License-Identifier: Apache-2.0
// read_floats: tensors of one floating type as another.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include <crochet/base/bfloat16.hpp>
#include <crochet/base/error.hpp>
#include <crochet/base/float16.hpp>
#include <crochet/storage/checkpoint_format.hpp>
#include <crochet/storage/data_type.hpp>
#include <crochet/storage/tensor_record.hpp>

namespace crochet::io {

/// Whether a type has two bytes and floats: float16 or bfloat16. Each of its numbers is a float, and a double.
constexpr bool is_half(DataType type) { return type == DataType::float16 || type == DataType::bfloat16; }

/// A type that read_floats reads into.
template <class T>
concept ReadFloat = std::is_same_v<T, float> || std::is_same_v<T, double> || std::is_same_v<T, bfloat16>;

/// Whether read_floats reads a tensor of this type as T: of T, float16 or bfloat16; for bfloat16 also of float.
template <ReadFloat T>
constexpr bool reads_as(DataType type) {
  return type == data_type_of<T>() || is_half(type) || (std::is_same_v<T, bfloat16> && type == DataType::float32);
}

namespace detail {

/// Converts the numbers at the end of `to`, in place: a number lies behind the place of its result, or in it.
template <class Half, class T>
void widen_in_place(std::span<T> to) {
  std::array<Half, 1024> piece;  // so that reads and writes are apart, and the loop is vectorized
  const std::byte* from = std::as_bytes(to).data() + to.size() * (sizeof(T) - sizeof(Half));
  for (std::size_t at = 0; at < to.size(); at += piece.size()) {
    const std::size_t count = std::min(piece.size(), to.size() - at);
    std::memcpy(piece.data(), from + at * sizeof(Half), count * sizeof(Half));
    for (std::size_t i = 0; i < count; ++i) to[at + i] = static_cast<T>(float{piece[i]});
  }
}

/// Rounds what the reader has.
template <class Reader>
void read_rounded(const Reader& reader, const TensorEntry& entry, std::span<bfloat16> to) {
  if (entry.type == DataType::float32) {
    std::vector<float> floats(to.size());
    reader.read(entry, std::as_writable_bytes(std::span{floats}));
    std::transform(floats.begin(), floats.end(), to.begin(), [](float x) { return bfloat16(x); });
    return;
  }
  reader.read(entry, std::as_writable_bytes(to));
  if (entry.type == DataType::bfloat16) return;
  for (bfloat16& x : to) x = bfloat16(float{crochet::detail::Float16::of_bits(x.bits())});
}

template <class Reader, class T>
void read_checked_floats(const Reader& reader, const TensorEntry& entry, std::span<T> to) {
  if (!reads_as<T>(entry.type) || to.size() != entry.elements) {
    throw LogicError("crochet: tensor \"" + entry.name + "\" of the checkpoint has " + std::to_string(entry.elements) +
                     " elements of type " + std::string(name_of(entry.type)) + ", and cannot be read as " +
                     std::to_string(to.size()) + " of type " + std::string(name_of(data_type_of<T>())));
  }
  if constexpr (std::is_same_v<T, bfloat16>) {
    read_rounded(reader, entry, to);
  } else {
    reader.read(entry, std::as_writable_bytes(to).last(entry.byte_size));
    if (entry.type == DataType::float16) widen_in_place<crochet::detail::Float16>(to);
    if (entry.type == DataType::bfloat16) widen_in_place<bfloat16>(to);
  }
}

}  // namespace detail

/// Reads a tensor of T, float16 or bfloat16 into `to`, which has entry.elements elements. T is float, double or, for
/// which tensors of float are read, too, bfloat16. Float and double get every number of the file; for bfloat16 numbers
/// of other types are rounded, to nearest, ties to even.
/// - Throws LogicError for a tensor of another type or size, and what `read` of the reader throws; the contents of `to`
///   are then unspecified.
/// - Cost: `read`, and a pass over the elements. Takes no further memory; from float to bfloat16 that of the floats.
template <class T, CheckpointReader Reader>
void read_floats(const Reader& reader, const TensorEntry& entry, std::span<T> to) {
  static_assert(ReadFloat<T>,
                "crochet: read_floats reads into float, double and bfloat16; reader.read(entry, bytes) reads any type");
  if constexpr (ReadFloat<T>) detail::read_checked_floats(reader, entry, to);
}

}  // namespace crochet::io
