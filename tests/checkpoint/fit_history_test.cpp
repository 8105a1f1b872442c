// SPDX-License-Identifier: Apache-2.0
// The table of a training, from the values of a channel.
#include <crochet/checkpoint/fit_history.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

namespace fit_history_test {

namespace cr = crochet;

TEST(FitHistory, HasALineForEachEpoch) {
  const cr::MetricChannel metrics;
  for (const std::int64_t epoch : {1, 2}) {
    metrics.publish("training/epoch", 20 * epoch, static_cast<double>(epoch));
    metrics.publish("training/loss", 20 * epoch, 1.0 / static_cast<double>(epoch));
  }
  metrics.publish("loss", 40, 0.75);
  const cr::FitHistory history = cr::FitHistory::of(metrics, {"loss"}, true);
  ASSERT_EQ(history.epochs.size(), 2U);
  EXPECT_EQ(history.epochs[1].epoch, 2);
  EXPECT_EQ(history.epochs[1].step, 40);
  EXPECT_EQ(history.epochs[1].training, std::vector<double>{0.5});
  EXPECT_EQ(history.epochs[1].validation, std::vector<double>{0.75});
  EXPECT_TRUE(std::isnan(history.epochs[0].validation.at(0)));
}

/// The history of a channel is saved in checkpoints. UndefinedBehaviorSanitizer reports the conversion of such a value.
TEST(FitHistory, AnEpochThatIsNoNumberIsNone) {
  const cr::MetricChannel metrics;
  std::int64_t step = 0;
  for (const double epoch : {std::nan(""), HUGE_VAL, -HUGE_VAL, 1e300, -3.0}) {
    metrics.publish("training/epoch", ++step, epoch);
  }
  const cr::FitHistory history = cr::FitHistory::of(metrics, {}, false);
  ASSERT_EQ(history.epochs.size(), 5U);
  for (const cr::FitHistory::Epoch& epoch : history.epochs) EXPECT_EQ(epoch.epoch, 0) << epoch.step;
}

}  // namespace fit_history_test
