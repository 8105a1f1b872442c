// SPDX-License-Identifier: Apache-2.0
// Philox against the known answers of Random123 (kat_vectors, philox4x32 10), and the distributions computed from it.
#include <set>

#include <gtest/gtest.h>
#include <crochet/kernels/random.hpp>

namespace crochet::kernel {
namespace random_test {

TEST(Philox, KnownAnswers) {
  static_assert(philox({0, 0, 0, 0}, {0, 0}) == PhiloxBlock{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  static_assert(philox({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff}) ==
                PhiloxBlock{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  static_assert(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}) ==
                PhiloxBlock{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

TEST(Random, IsAFunctionOfSeedNameAndIndex) {
  const Random a(1, "a"), same(1, "a"), other_name(1, "b"), other_seed(2, "a"),
      high_seed(1 + (std::uint64_t{1} << 40U), "a");
  std::set<double> all;
  for (std::uint64_t i : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{1} << 32U, std::uint64_t{1} << 40U}) {
    EXPECT_EQ(a.uniform(i), same.uniform(i));
    for (const Random* r : {&a, &other_name, &other_seed, &high_seed}) all.insert(r->uniform(i));
  }
  EXPECT_EQ(all.size(), 16U) << "every one is another number";
}

TEST(Random, UniformIsBelowOneAndEven) {
  const Random r(5, "x");
  int tenths[10] = {};
  for (std::uint64_t i = 0; i < 100000; ++i) {
    const double x = r.uniform(i);
    ASSERT_GE(x, 0);
    ASSERT_LT(x, 1);
    ++tenths[static_cast<int>(x * 10)];
  }
  for (int n : tenths) EXPECT_NEAR(n, 10000, 500);  // five sigmas
}

TEST(Random, NormalDoesNotRepeatItself) {
  const Random r(5, "x");
  std::set<double> seen;
  for (std::uint64_t i = 0; i < 10000; ++i) seen.insert(r.truncated_normal(i));
  EXPECT_EQ(seen.size(), 10000U);
}

}  // namespace random_test
}  // namespace crochet::kernel
