// SPDX-License-Identifier: Apache-2.0
// Masks where char is unsigned, as on ARM. clang compares vectors of bytes to a vector of char.
#include <crochet/kernels/registers.hpp>
#include <crochet/kernels/simd_native.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <type_traits>

namespace unsigned_char_test {

namespace simd = crochet::simd;
static_assert(std::is_unsigned_v<char>, "this file is compiled with -funsigned-char");

using Bytes = simd::vec<std::uint8_t>;

Bytes some_bytes() {
  Bytes x{};
  for (int l = 0; l < simd::lanes; ++l) x[l] = static_cast<std::uint8_t>(l % 2 == 0 ? 0 : 127 + l);
  return x;
}

TEST(UnsignedChar, ComparisonsOfBytesAreMasks) {
  const Bytes x = some_bytes();
  const auto some = simd::compare<simd::Less>(Bytes{}, x);
  const auto bytes = simd::as_bytes<simd::lanes>(some);
  const auto wide = simd::as_mask<float, simd::lanes>(some);
  const auto chosen = simd::choose<std::uint8_t, simd::lanes>(some, x, Bytes{} + std::uint8_t{7});
  for (int l = 0; l < simd::lanes; ++l) {
    EXPECT_EQ(some[l], l % 2 == 0 ? 0 : -1);
    EXPECT_EQ(bytes[l], l % 2);
    EXPECT_EQ(wide[l], l % 2 == 0 ? 0 : -1);
    EXPECT_EQ(chosen[l], l % 2 == 0 ? 7 : x[l]);
  }
}

TEST(UnsignedChar, BytesToTruthValues) {
  const auto truth = simd::cast<std::uint8_t, bool, simd::lanes>(some_bytes());
  const auto bytes = simd::as_bytes<simd::lanes>(truth);
  const auto numbers = simd::cast<bool, float, simd::lanes>(truth);
  for (int l = 0; l < simd::lanes; ++l) {
    EXPECT_EQ(bytes[l], l % 2);
    EXPECT_EQ(numbers[l], static_cast<float>(l % 2));
  }
}

}  // namespace unsigned_char_test
