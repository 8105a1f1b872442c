// SPDX-License-Identifier: Apache-2.0
// How values are on the wire between ranks: as they are, or floats rounded to bfloat16.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include <crochet/base/bfloat16.hpp>

namespace crochet {

/// How gradients of type float are sent to other ranks.
enum class Compression : std::uint8_t {
  none,
  /// Rounded to bfloat16: half the bytes. Each rank rounds its gradient, to nearest and even; sums are floats. In a sum
  /// of more than 64 KiB on the wire, of all ranks together, the result is rounded once more. The relative error of a
  /// rounding is at most 2^-8 from 2^-126 on; infinities and NaN remain. Gradients of type double are sent as they are.
  bfloat16,
};

namespace detail {

/// `to` gets weight * from. W: T, or bfloat16 for floats.
template <class W, class T>
void to_wire(std::span<const T> from, T weight, W* to) {
  if constexpr (std::is_same_v<W, T>) {
    for (std::size_t i = 0; i < from.size(); ++i) to[i] = from[i] * weight;
  } else {
    for (std::size_t i = 0; i < from.size(); ++i) to[i] = W(from[i] * weight);
  }
}
inline void from_wire(const bfloat16* from, std::span<float> to) {
  for (std::size_t i = 0; i < to.size(); ++i) to[i] = from[i];
}

}  // namespace detail
}  // namespace crochet
