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

}  // namespace gradient_check_test
}  // namespace crochet::testing
