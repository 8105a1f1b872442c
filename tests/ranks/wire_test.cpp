// SPDX-License-Identifier: Apache-2.0
// Floats as bfloat16 on the wire.
#include <crochet/ranks/wire.hpp>

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace ranks_wire_test {

using crochet::bfloat16;

float there_and_back(float x) { return bfloat16(x); }

TEST(Bfloat16, RoundsToTheNearest) {
  EXPECT_EQ(there_and_back(1.0F), 1.0F);
  EXPECT_EQ(there_and_back(0.0F), 0.0F);
  EXPECT_TRUE(std::signbit(there_and_back(-0.0F)));
  EXPECT_EQ(there_and_back(1.0F + 0x1p-8F - 0x1p-20F), 1.0F);            // below the middle of 1 and 1 + 2^-7
  EXPECT_EQ(there_and_back(1.0F + 0x1p-8F + 0x1p-20F), 1.0F + 0x1p-7F);  // above it
}

TEST(Bfloat16, RoundsTheMiddleToEven) {
  EXPECT_EQ(there_and_back(1.0F + 0x1p-8F), 1.0F);
  EXPECT_EQ(there_and_back(1.0F + 3 * 0x1p-8F), 1.0F + 0x1p-6F);
  EXPECT_EQ(there_and_back(-1.0F - 3 * 0x1p-8F), -1.0F - 0x1p-6F);
}

TEST(Bfloat16, KeepsInfinityAndNaN) {
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(there_and_back(infinity), infinity);
  EXPECT_EQ(there_and_back(-infinity), -infinity);
  EXPECT_EQ(there_and_back(std::numeric_limits<float>::max()), infinity);  // the nearest
  for (const std::uint32_t nan : {0x7FC0'0000U, 0x7F80'0001U, 0x7FFF'FFFFU, 0xFFFF'FFFFU}) {
    EXPECT_TRUE(std::isnan(there_and_back(std::bit_cast<float>(nan)))) << nan;
  }
}

// Each finite float of 2^16 different upper halves, with three lower halves: the error is at most half a unit of the
// last of 8 significant bits.
TEST(Bfloat16, HasARelativeErrorOfAtMostOneIn256) {
  for (std::uint32_t upper = 0x0080; upper < 0x7F7F; ++upper) {
    for (const std::uint32_t lower : {0x0001U, 0x7FFFU, 0xFFFFU}) {
      const auto x = std::bit_cast<float>(upper << 16U | lower);
      ASSERT_LE(std::abs(there_and_back(x) - x), x * 0x1p-8F) << x;
    }
  }
}

TEST(Wire, WeighsAndRounds) {
  const std::vector<float> values{1, 2.5F, -3};
  std::vector<bfloat16> wire(3);
  crochet::detail::to_wire<bfloat16, float>(values, 3.0F, wire.data());
  std::vector<float> back(3);
  crochet::detail::from_wire(wire.data(), back);
  EXPECT_EQ(back, (std::vector<float>{3, 7.5F, -9}));
}

}  // namespace ranks_wire_test
