// SPDX-License-Identifier: Apache-2.0
// PlateauRate: when the rate falls, and which settings are refused.
#include <crochet/base/error.hpp>
#include <crochet/hooks/kit/aim.hpp>
#include <crochet/hooks/plateau_rate.hpp>
#include <crochet/testing.hpp>

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "../refusal.hpp"

namespace plateau_rate_test {

namespace cr = crochet;
using Rule = cr::PlateauRate;

using crochet::test::refusal;

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

/// The looks in which the rate falls, of values that never become better.
std::string reductions(Rule& rate, int first, int last) {
  std::string fell;
  for (int look = first; look < last; ++look) fell += rate.reduced(1.0, look) ? '!' : '.';
  return fell;
}

TEST(PlateauRate, PatienceBeginsBehindTheCooldown) {
  Rule rate{.aim = cr::Aim::lowest, .rate = 1, .factor = 0.5, .patience = 3, .cooldown = 2};
  rate.start("a test");
  EXPECT_EQ(reductions(rate, 0, 9), "...!....!");
  rate.start("a test");
  EXPECT_EQ(reductions(rate, 0, 4), "...!") << "no cooldown is left";
}

TEST(PlateauRate, ARateBelowTheLowerBoundIsNotRaised) {
  Rule rate{.aim = cr::Aim::lowest, .rate = 0.01, .factor = 0.5, .patience = 1, .min_rate = 0.05};
  rate.start("a test");
  EXPECT_EQ(reductions(rate, 0, 4), "....");
  EXPECT_EQ(rate.now, 0.01);
}

TEST(PlateauRate, ItsStateGoesOnExactly) {
  const Rule rule{.aim = cr::Aim::lowest, .rate = 1, .factor = 0.5, .patience = 3, .cooldown = 2};
  for (int saved_at = 1; saved_at < 9; ++saved_at) {
    Rule first = rule, second = rule;
    first.start("a test");
    const std::string before = reductions(first, 0, saved_at);
    cr::testing::StateBox box;
    first.save_state(box);
    second.start("a test");
    second.load_state(box);
    EXPECT_EQ(second.now, first.now);
    EXPECT_EQ(before + reductions(second, saved_at, 14), "...!....!....!") << saved_at;
    EXPECT_EQ(second.now, 0.125) << saved_at;
  }
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
