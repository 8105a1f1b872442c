// SPDX-License-Identifier: Apache-2.0
// FloatStorage: how files hold floats.
#pragma once

#include <cstdint>

#include <crochet/storage/data_type.hpp>

namespace crochet {

/// How a file holds tensors of float: as they are, or rounded to a type of half the bytes. A rounding is to nearest,
/// ties to even. Infinities and NaN remain.
enum class FloatStorage : std::uint8_t {
  float32,   ///< unchanged
  float16,   ///< relative error at most 2^-11; magnitudes up to 65504, below 2^-14 with fewer bits, up to 2^-25 zero
  bfloat16,  ///< relative error at most 2^-8, below 2^-126 more; the range of float
};

namespace io {

/// The element type of floats in the file.
constexpr DataType data_type_of(FloatStorage storage) {
  switch (storage) {
    case FloatStorage::float16:
      return DataType::float16;
    case FloatStorage::bfloat16:
      return DataType::bfloat16;
    case FloatStorage::float32:
      break;
  }
  return DataType::float32;
}

}  // namespace io
}  // namespace crochet
