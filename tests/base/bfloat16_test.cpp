// SPDX-License-Identifier: Apache-2.0
// bfloat16 as a class: what it converts from and to. float16_test.cpp compares the conversions with IEEE's
// definition.
#include <crochet/base/bfloat16.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace bfloat16_test {

using crochet::bfloat16;

static_assert(sizeof(bfloat16) == 2 && alignof(bfloat16) == 2 && std::is_trivially_copyable_v<bfloat16>);
static_assert(!std::is_convertible_v<float, bfloat16>, "it rounds");
static_assert(std::is_convertible_v<bfloat16, float>, "it is exact");
static_assert(crochet::FloatingElement<bfloat16> && crochet::FloatingElement<double> && !crochet::FloatingElement<int>);

TEST(Bfloat16, RoundsNumbersOfEveryType) {
  EXPECT_EQ(bfloat16(1.0F).bits(), 0x3F80);
  EXPECT_EQ(bfloat16(-2.5).bits(), 0xC020);
  EXPECT_EQ(bfloat16(257), 256.0F) << "257 is halfway: to the even one";
  EXPECT_EQ(bfloat16(259), 260.0F);
  EXPECT_EQ(bfloat16(true), 1.0F);
  EXPECT_TRUE(std::isnan(bfloat16(std::numeric_limits<double>::quiet_NaN())));
  EXPECT_TRUE(std::isinf(bfloat16(std::numeric_limits<double>::max())));
}

TEST(Bfloat16, EveryPatternOfBitsIsItsOwnFloat) {
  for (std::uint32_t bits = 0; bits <= 0xFFFF; ++bits) {
    const bfloat16 x = bfloat16::of_bits(static_cast<std::uint16_t>(bits));
    ASSERT_EQ(x.bits(), bits);
    if (std::isnan(float{x})) continue;
    ASSERT_EQ(bfloat16(float{x}).bits(), bits);
  }
}

TEST(Bfloat16, ArithmeticIsThatOfFloats) {
  const bfloat16 third(1.0F / 3);
  static_assert(std::is_same_v<decltype(third + third), float>);
  EXPECT_EQ(third * 3, float{third} * 3);
  EXPECT_LT(third, 0.34F);
  EXPECT_EQ(bfloat16{}, 0.0F);
}

}  // namespace bfloat16_test
