// SPDX-License-Identifier: Apache-2.0
// ByteSet: a set of bytes, for the character classes of a pattern.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace crochet::debug {

/// A set of bytes.
class ByteSet {
 public:
  constexpr void add(unsigned first, unsigned last) {
    for (unsigned c = first; c <= last; ++c) bits_[c / 64] |= std::uint64_t{1} << (c % 64);
  }
  constexpr void add(const ByteSet& other) {
    for (std::size_t i = 0; i < 4; ++i) bits_[i] |= other.bits_[i];
  }
  constexpr void invert() {
    for (std::uint64_t& word : bits_) word = ~word;
  }
  [[nodiscard]] constexpr bool has(char c) const {
    const auto byte = static_cast<unsigned char>(c);
    return (bits_[byte / 64] >> (byte % 64) & 1U) != 0;
  }

 private:
  std::array<std::uint64_t, 4> bits_{};
};

}  // namespace crochet::debug
