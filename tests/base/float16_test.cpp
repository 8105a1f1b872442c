// SPDX-License-Identifier: Apache-2.0
// Float16 and bfloat16: every number of both types, and every border between two roundings.
#include <crochet/base/bfloat16.hpp>
#include <crochet/base/float16.hpp>

#include <gtest/gtest.h>

#include <Eigen/Core>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

namespace crochet {
namespace float16_test {

using detail::Float16;

constexpr float infinity = std::numeric_limits<float>::infinity();

std::uint32_t bits_of(float x) { return std::bit_cast<std::uint32_t>(x); }

/// The number of sign, exponent and fraction by the definition of IEEE 754, computed with powers of two.
double defined(std::uint32_t bits, int fraction_bits, int bias) {
  const std::uint32_t fraction = bits & ((1U << fraction_bits) - 1), highest = 0x7FFFU >> fraction_bits;
  const std::uint32_t exponent = (bits & 0x7FFFU) >> fraction_bits;
  const double sign = (bits & 0x8000U) != 0 ? -1 : 1;
  if (exponent == highest) return fraction == 0 ? sign * HUGE_VAL : std::nan("");
  const double whole = exponent == 0 ? fraction : fraction + (1U << fraction_bits);
  return sign * std::ldexp(whole, static_cast<int>(exponent == 0 ? 1 : exponent) - bias - fraction_bits);
}

struct OfFloat16 {
  using Half = Float16;
  static constexpr int fraction_bits = 10, bias = 15;
  static float eigen(std::uint16_t bits) {
    return static_cast<float>(Eigen::half(Eigen::half_impl::raw_uint16_to_half(bits)));
  }
  static std::uint16_t eigen_bits(float x) { return Eigen::numext::bit_cast<std::uint16_t>(Eigen::half(x)); }
};
struct OfBfloat16 {
  using Half = bfloat16;
  static constexpr int fraction_bits = 7, bias = 127;
  static float eigen(std::uint16_t bits) {
    return static_cast<float>(Eigen::bfloat16(Eigen::bfloat16_impl::raw_uint16_to_bfloat16(bits)));
  }
  static std::uint16_t eigen_bits(float x) { return Eigen::numext::bit_cast<std::uint16_t>(Eigen::bfloat16(x)); }
};

template <class Type>
class HalfFloats : public ::testing::Test {};
struct TypeNames {
  template <class Type>
  static std::string GetName(int) {
    return Type::bias == 15 ? "float16" : "bfloat16";
  }
};
using Types = ::testing::Types<OfFloat16, OfBfloat16>;
TYPED_TEST_SUITE(HalfFloats, Types, TypeNames);

TYPED_TEST(HalfFloats, AreTheSameNumbersAsFloats) {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto half = static_cast<std::uint16_t>(bits);
    const float x = TypeParam::Half::of_bits(half);
    const double number = defined(bits, TypeParam::fraction_bits, TypeParam::bias);
    ASSERT_EQ(std::signbit(x), bits >= 0x8000) << bits;
    ASSERT_EQ(std::isnan(x), std::isnan(number)) << bits;
    ASSERT_EQ(std::isnan(x), std::isnan(TypeParam::eigen(half))) << bits;
    if (std::isnan(x)) continue;
    ASSERT_EQ(static_cast<double>(x), number) << bits;
    ASSERT_EQ(bits_of(x), bits_of(TypeParam::eigen(half))) << bits;
  }
}

TYPED_TEST(HalfFloats, AreRoundedToThemselves) {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const float x = TypeParam::Half::of_bits(static_cast<std::uint16_t>(bits));
    const std::uint32_t again = typename TypeParam::Half(x).bits();
    const std::uint32_t quiet = std::isnan(x) ? 1U << (TypeParam::fraction_bits - 1) : 0;  // a NaN is made quiet
    ASSERT_EQ(again, bits | quiet);
  }
}

/// Rounding is monotonous, so the borders between neighbours define it: the number in the middle goes to the even one,
/// the floats before and after it to the nearer one.
TYPED_TEST(HalfFloats, AreTheNearestAndAtTheMiddleTheEvenOnes) {
  const std::uint32_t infinite = 0x7FFFU >> TypeParam::fraction_bits << TypeParam::fraction_bits;
  for (std::uint32_t low = 0; low < infinite; ++low) {
    const double below = defined(low, TypeParam::fraction_bits, TypeParam::bias);
    // What follows the largest number if the exponents went on: from its middle on numbers are infinite.
    const double above = low + 1 < infinite ? defined(low + 1, TypeParam::fraction_bits, TypeParam::bias)
                                            : 2 * below - defined(low - 1, TypeParam::fraction_bits, TypeParam::bias);
    const auto middle = static_cast<float>((below + above) / 2);
    ASSERT_EQ(static_cast<double>(middle), (below + above) / 2) << "a float has more bits";
    for (const float sign : {1.0F, -1.0F}) {
      const std::uint32_t s = sign < 0 ? 0x8000U : 0;
      ASSERT_EQ(typename TypeParam::Half(sign * middle).bits(), s | (low + low % 2)) << low;
      ASSERT_EQ(typename TypeParam::Half(sign * std::nextafter(middle, 0.0F)).bits(), s | low) << low;
      ASSERT_EQ(typename TypeParam::Half(sign * std::nextafter(middle, infinity)).bits(), s | (low + 1)) << low;
      for (const float x : {middle, std::nextafter(middle, 0.0F), std::nextafter(middle, infinity)}) {
        ASSERT_EQ(typename TypeParam::Half(sign * x).bits(), TypeParam::eigen_bits(sign * x)) << low;
      }
    }
  }
}

TYPED_TEST(HalfFloats, KeepInfinityAndNaN) {
  const std::uint32_t infinite = 0x7FFFU >> TypeParam::fraction_bits << TypeParam::fraction_bits;
  EXPECT_EQ(typename TypeParam::Half(infinity).bits(), infinite);
  EXPECT_EQ(typename TypeParam::Half(-infinity).bits(), infinite | 0x8000U);
  EXPECT_EQ(typename TypeParam::Half(std::numeric_limits<float>::max()).bits(), infinite) << "what is too large";
  for (const std::uint32_t nan : {0x7F80'0001U, 0x7FBF'FFFFU, 0x7FC0'0000U, 0x7FFF'FFFFU, 0xFF80'0001U, 0xFFFF'FFFFU}) {
    const std::uint32_t rounded = typename TypeParam::Half(std::bit_cast<float>(nan)).bits();
    EXPECT_GT(rounded & 0x7FFFU, infinite) << nan << ": its few bits must not be rounded to those of infinity";
    EXPECT_EQ(rounded >> 15U, nan >> 31U) << nan;
  }
}

TEST(Float16, HasTheBordersOfTheStandard) {
  EXPECT_EQ(Float16::of_bits(0x7BFF), 65504.0F);
  EXPECT_EQ(Float16(65519.0F).bits(), 0x7BFF);
  EXPECT_EQ(Float16(65520.0F).bits(), 0x7C00);
  EXPECT_EQ(Float16::of_bits(0x0001), 0x1p-24F);
  EXPECT_EQ(Float16(0x1p-25F).bits(), 0) << "the middle between zero and the smallest";
  EXPECT_EQ(Float16(std::numeric_limits<float>::denorm_min()).bits(), 0);
  static_assert(Float16(0x1.002p0F).bits() == 0x3C00 && bfloat16(1.0F).bits() == 0x3F80);
  static_assert(Float16::of_bits(0xC000) == -2 && bfloat16::of_bits(0xC000) == -2);
}

}  // namespace float16_test
}  // namespace crochet
