// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <limits>

#include <crochet/base/number_text.hpp>

namespace crochet {
namespace number_text_test {

using detail::fixed_text;
using detail::general_text;

TEST(NumberText, HasTheDigitsThatPrintfHas) {
  for (const double x : {0.0, -0.5, 0.52, 2.0 / 3, 81.25, 1234567.0, 1e-8, 1.25e9, 4.9e-324, 1e300,
                         std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()}) {
    char text[400];
    std::snprintf(text, sizeof text, "%.3f", x);
    EXPECT_EQ(fixed_text(x, 3), text);
    std::snprintf(text, sizeof text, "%.4g", x);
    EXPECT_EQ(general_text(x, 4), text);
    std::snprintf(text, sizeof text, "%g", x);
    EXPECT_EQ(general_text(x), text);
  }
  EXPECT_EQ(general_text(std::nan("")), "nan");
  EXPECT_EQ(fixed_text(std::numeric_limits<double>::lowest(), 3).size(), 314U);
}

}  // namespace number_text_test
}  // namespace crochet
