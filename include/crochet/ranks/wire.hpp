// SPDX-License-Identifier: Apache-2.0
// How values are on the wire between ranks: as they are, or floats rounded to bfloat16.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

namespace crochet {

/// How gradients of type float are sent to other ranks.
enum class Compression : std::uint8_t {
  none,
  /// Rounded to bfloat16: half the bytes. Each rank rounds its gradient, to nearest and even; sums are floats. In a sum
  /// of more than 64 KiB on the wire, of all ranks together, the result is rounded once more. The relative error of a
  /// rounding is at most 2^-8; infinities and NaN remain. Gradients of type double are sent as they are.
  bfloat16,
};

namespace detail {

/// The upper half of a float: https://en.wikipedia.org/wiki/Bfloat16_floating-point_format.
struct BFloat16 {
  std::uint16_t bits;
};

inline BFloat16 round_to_bfloat16(float x) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  const std::uint32_t rounded = bits + 0x7FFFU + (bits >> 16U & 1U);
  const bool nan = (bits & 0x7FFF'FFFFU) > 0x7F80'0000U;  // rounding could carry its bits away
  return {static_cast<std::uint16_t>((nan ? bits | 0x40'0000U : rounded) >> 16U)};
}
inline float to_float(BFloat16 x) { return std::bit_cast<float>(std::uint32_t{x.bits} << 16U); }

/// `to` gets weight * from. W: T, or BFloat16 for floats.
template <class W, class T>
void to_wire(std::span<const T> from, T weight, W* to) {
  if constexpr (std::is_same_v<W, T>) {
    for (std::size_t i = 0; i < from.size(); ++i) to[i] = from[i] * weight;
  } else {
    for (std::size_t i = 0; i < from.size(); ++i) to[i] = round_to_bfloat16(from[i] * weight);
  }
}
inline void from_wire(const BFloat16* from, std::span<float> to) {
  for (std::size_t i = 0; i < to.size(); ++i) to[i] = to_float(from[i]);
}

}  // namespace detail
}  // namespace crochet
