// SPDX-License-Identifier: Apache-2.0
// Rows of every length: partial vectors touch no memory beyond the row, and reductions count each element once.
#include <crochet/kernels/rows.hpp>

#include <cmath>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

namespace crochet::simd {
namespace rows_test {

template <class T>
class Rows : public ::testing::Test {};
using Elements = ::testing::Types<float, double>;
TYPED_TEST_SUITE(Rows, Elements);

TYPED_TEST(Rows, PartsOfVectorsAreReadAndWrittenAlone) {
  using T = TypeParam;
  std::vector<T> from(lanes);
  std::iota(from.begin(), from.end(), T(1));
  for (std::int64_t n = 0; n <= lanes; ++n) {
    // A vector of exactly n elements: sanitizers detect an access beyond it.
    const std::vector<T> exact(from.begin(), from.begin() + n);
    const vec<T> v = load(exact.data(), First{n}, T(-7));
    for (int i = 0; i < lanes; ++i) EXPECT_EQ(v[i], i < n ? T(i + 1) : T(-7)) << n;
    std::vector<T> to(lanes, T(-1));
    store(to.data(), v, First{n});
    for (int i = 0; i < lanes; ++i) EXPECT_EQ(to[static_cast<std::size_t>(i)], i < n ? T(i + 1) : T(-1)) << n;
  }
}

TYPED_TEST(Rows, EveryElementCountsOnce) {
  using T = TypeParam;
  for (std::int64_t n : {0, 1, 2, 3, lanes - 1, lanes, lanes + 1, 2 * lanes, 5 * lanes + 3, 128 * lanes + 1}) {
    std::vector<T> x(static_cast<std::size_t>(n), T(1)), to(x.size(), T(0));
    std::int64_t next = 0;
    along(n, [&](std::int64_t j, auto how) {
      EXPECT_EQ(j, next);
      next += how.n;
      store(to.data() + j, static_cast<vec<T>>(load(x.data() + j, how, T(0)) * T(2)), how);
    });
    EXPECT_EQ(next, n);
    EXPECT_EQ(to, std::vector<T>(x.size(), T(2)));
    const T sum = sum_along<T>(n, [&](std::int64_t j, auto how) { return load(x.data() + j, how, T(0)); });
    EXPECT_EQ(sum, static_cast<T>(n));
    for (std::size_t i = 0; i < x.size(); ++i) {
      x[i] = T(3);
      EXPECT_EQ(max_along(x.data(), n), T(3)) << i;
      x[i] = T(1);
      if (i > 9) i += 36;
    }
  }
  EXPECT_EQ(max_along<T>(nullptr, 0), -std::numeric_limits<T>::infinity());
}

TYPED_TEST(Rows, LanesAreJoinedAll) {
  using T = TypeParam;
  vec<T> v{};
  for (int i = 0; i < lanes; ++i) v[i] = static_cast<T>(1 << i);
  EXPECT_EQ(across_sum(v), static_cast<T>((1 << lanes) - 1));
  for (int i = 0; i < lanes; ++i) {
    vec<T> w{};
    w[i] = T(5);
    EXPECT_EQ(across_max(w), T(5));
  }
}

// The sum of a long row keeps its precision, because its blocks are summed separately. A single chain of additions
// would lose digits.
TEST(SumAlong, OfALongRow) {
  const std::int64_t n = std::int64_t{1} << 18;
  const std::vector<float> x(static_cast<std::size_t>(n), 0.1F);
  const float sum = sum_along<float>(n, [&](std::int64_t j, auto how) { return load(x.data() + j, how, 0.F); });
  EXPECT_NEAR(sum / static_cast<float>(n), 0.1F, 0.1F * 2e-5F);
}

}  // namespace rows_test
}  // namespace crochet::simd
