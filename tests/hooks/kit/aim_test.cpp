// SPDX-License-Identifier: Apache-2.0
// Aim: which value is the better one, and how the reason of a stop states it.
#include <crochet/hooks/early_stopping.hpp>
#include <crochet/hooks/kit/aim.hpp>
#include <crochet/testing.hpp>

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <utility>

namespace aim_test {

namespace cr = crochet;
using cr::testing::Script;
constexpr double nan_value = std::numeric_limits<double>::quiet_NaN();

TEST(Aim, IsStatedInTheReasonOfAStop) {
  for (const auto& [aim, comparative] : {std::pair{cr::Aim::lowest, "lower"}, {cr::Aim::highest, "higher"}}) {
    Script run{cr::EarlyStopping<"loss">{.aim = aim, .patience = 1}};
    run.step(cr::value<"loss">(1.0));
    run.step(cr::value<"loss">(1.0));
    EXPECT_EQ(run.stop_reason(), std::string("loss is not ") + comparative + " than 1.0, of step 1, since 1 looks");
  }
  static_assert(cr::Aim::lowest.better(1, 2) && !cr::Aim::lowest.better(2, 1) && !cr::Aim::lowest.better(1.5, 2, 0.5));
  static_assert(cr::Aim::highest.better(2, 1) && !cr::Aim::highest.better(nan_value, 1) &&
                !cr::Aim::highest.better(1, 1));
}

}  // namespace aim_test
