// SPDX-License-Identifier: Apache-2.0
// RoundedTensors: tensors of float as float16 or bfloat16, for files of half the size.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <crochet/base/bfloat16.hpp>
#include <crochet/base/config.hpp>
#include <crochet/base/error.hpp>
#include <crochet/base/float16.hpp>
#include <crochet/base/number_text.hpp>
#include <crochet/storage/data_type.hpp>
#include <crochet/storage/float_storage.hpp>
#include <crochet/storage/tensor_record.hpp>

namespace crochet::io {

namespace detail {

inline float float_at(std::span<const std::byte> bytes, std::size_t index) {
  float x = 0;
  std::memcpy(&x, bytes.data() + index * sizeof x, sizeof x);
  return x;
}

inline bool is_infinite(float x) { return (std::bit_cast<std::uint32_t>(x) & 0x7FFF'FFFFU) == 0x7F80'0000U; }

/// Rounds each float. False if a finite one became infinite.
template <class Half>
bool round_floats(std::span<const std::byte> from, std::span<std::uint16_t> to) {
  constexpr std::uint32_t infinite = Half(std::numeric_limits<float>::infinity()).bits();
  bool fits = true;
  for (std::size_t i = 0; i < to.size(); ++i) {
    const float x = float_at(from, i);
    to[i] = Half(x).bits();
    fits &= (to[i] & 0x7FFFU) != infinite || is_infinite(x);
  }
  return fits;
}

}  // namespace detail

/// The records of a file in which tensors of float are rounded: Safetensors::write(prefix, RoundedTensors{tensors,
/// FloatStorage::bfloat16}.records()). Doubles, integers and all other tensors stay as they are.
/// - Refers to the names, shapes and unchanged elements of `tensors`. With FloatStorage::float32 nothing is copied.
/// - Memory: half of the bytes of the rounded tensors.
class RoundedTensors {
 public:
  /// rounds: the names of the tensors to round; unset: all. Throws FailedPreconditionError, with the name, if a finite
  /// element is beyond the range of the type; LogicError for a tensor whose parts are inconsistent.
  RoundedTensors(std::span<const TensorRecord> tensors, FloatStorage storage,
                 const std::function<bool(std::string_view)>& rounds = {})
      : records_(tensors.begin(), tensors.end()) {
    if (storage == FloatStorage::float32) return;
    for (TensorRecord& record : records_) {
      if (record.type == DataType::float32 && (!rounds || rounds(record.name))) round(record, storage);
    }
  }
  RoundedTensors(const RoundedTensors&) = delete;
  RoundedTensors& operator=(const RoundedTensors&) = delete;

  /// The tensors to write, valid while this object and what `tensors` refers to exist.
  [[nodiscard]] const std::vector<TensorRecord>& records() const { return records_; }

 private:
  void round(TensorRecord& record, FloatStorage storage) {
    check_record(record);
    std::vector<std::uint16_t>& to = rounded_.emplace_back(record.bytes.size() / sizeof(float));
    const bool fits = storage == FloatStorage::float16
                          ? detail::round_floats<crochet::detail::Float16>(record.bytes, to)
                          : detail::round_floats<bfloat16>(record.bytes, to);
    if (!fits) refuse(record, storage, to);
    record.type = data_type_of(storage);
    record.bytes = std::as_bytes(std::span{to});
  }
  [[noreturn]] CROCHET_COLD static void refuse(const TensorRecord& record, FloatStorage storage,
                                               std::span<const std::uint16_t> to) {
    const bool small = storage == FloatStorage::float16;
    const std::uint32_t infinite = small ? 0x7C00U : 0x7F80U;
    std::size_t i = 0;
    while ((to[i] & 0x7FFFU) != infinite || detail::is_infinite(detail::float_at(record.bytes, i))) ++i;
    const std::string text = crochet::detail::general_text(static_cast<double>(detail::float_at(record.bytes, i)));
    throw FailedPreconditionError("crochet: tensor \"" + std::string(record.name) + "\" has the element " + text +
                                  (small ? ", and float16 ends at 65504; use FloatStorage::bfloat16"
                                         : ", and bfloat16 ends at 3.38953e+38; use FloatStorage::float32"));
  }

  std::vector<TensorRecord> records_;
  std::vector<std::vector<std::uint16_t>> rounded_{};  // parallel to the rounded ones of records_
};

}  // namespace crochet::io
