// SPDX-License-Identifier: Apache-2.0
// PlateauRate: when the rate falls, and which settings are refused.
#include <crochet/base/error.hpp>
#include <crochet/hooks/kit/aim.hpp>
#include <crochet/hooks/plateau_rate.hpp>

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace plateau_rate_test {

namespace cr = crochet;
using Rule = cr::PlateauRate;

template <class Act>
std::string refusal(Act act) {
  try {
    act();
  } catch (const cr::LogicError& error) {
    return error.what();
  }
  return "";
}

TEST(PlateauRate, FallsAfterPatienceLooks) {
  Rule rate{.aim = cr::Aim::lowest, .rate = 1, .factor = 0.5, .patience = 2};
  rate.start("a test");
  std::vector<double> rates;
  for (const double loss : {1.0, 0.9, 0.9, 0.95, 0.9, 0.9, 0.8}) {
    rate.reduced(loss, 0);
    rates.push_back(rate.now);
  }
  EXPECT_EQ(rates, (std::vector<double>{1, 1, 1, 0.5, 0.5, 0.25, 0.25}));
}

TEST(PlateauRate, CooldownLooksDoNotCountAndThereIsALowerBound) {
  Rule rate{.aim = cr::Aim::lowest, .rate = 1, .factor = 0.1, .patience = 1, .cooldown = 2, .min_rate = 0.05};
  rate.start("a test");
  std::string reductions;
  for (int look = 0; look < 9; ++look) reductions += rate.reduced(1.0, look) ? '!' : '.';
  EXPECT_EQ(reductions, ".!..!....") << "the third time it is at its bound";
  EXPECT_EQ(rate.now, 0.05);
}

TEST(PlateauRate, RefusesWhatIsOutOfRange) {
  constexpr auto aim = cr::Aim::lowest;
  for (Rule rule : {Rule{.aim = aim, .rate = 0}, Rule{.aim = aim, .factor = 1}, Rule{.aim = aim, .factor = 0},
                    Rule{.aim = aim, .patience = 0}, Rule{.aim = aim, .min_delta = -1},
                    Rule{.aim = aim, .cooldown = -1}, Rule{.aim = aim, .min_rate = -1}}) {
    EXPECT_NE(refusal([&] { rule.start("ReduceOnPlateau"); }), "");
  }
}

}  // namespace plateau_rate_test
