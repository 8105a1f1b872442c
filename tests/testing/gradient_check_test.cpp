// SPDX-License-Identifier: Apache-2.0
#include <crochet/testing/gradient_check.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace crochet::testing {
namespace gradient_check_test {

TEST(GradientCheck, OfASquare) {
  std::vector<double> x{1, -2};
  const std::vector<double> gradient{2, -4};
  EXPECT_LT(check_gradient(x, gradient, [&] { return x[0] * x[0] + x[1] * x[1]; }).error, 1e-8);
}

TEST(GradientCheck, AnInfiniteOrMissingElementIsTheLargestError) {
  std::vector<double> x{1};
  for (const double wrong : {HUGE_VAL, -HUGE_VAL, std::nan("")}) {
    const std::vector<double> gradient{wrong};
    EXPECT_EQ(check_gradient(x, gradient, [&] { return x[0]; }).error, HUGE_VAL) << wrong;
  }
}

TEST(GradientCheck, NamesTheElementWithTheLargestError) {
  std::vector<double> x{1, 1, 1};
  const std::vector<double> gradient{1.5, 3, 0.75};
  const GradientCheck check = check_gradient(x, gradient, [&] { return x[0] + x[1] + x[2]; });
  EXPECT_EQ(check.worst, 1U);
  EXPECT_NEAR(check.expected, 1, 1e-8);
  EXPECT_EQ(check.given, 3);
  EXPECT_NEAR(check.error, 2 / 3.0, 1e-8) << "relative to the largest element";
  EXPECT_EQ(x, (std::vector<double>{1, 1, 1})) << "x is restored";
}

}  // namespace gradient_check_test
}  // namespace crochet::testing
