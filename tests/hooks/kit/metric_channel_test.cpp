// SPDX-License-Identifier: Apache-2.0
// MetricChannel: keeps the history of each metric, and publishes an evaluation as a whole.
#include <crochet/crochet.hpp>
#include <crochet/hooks/evaluate.hpp>
#include <crochet/hooks/kit/metric_channel.hpp>
#include <crochet/testing.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "../../refusal.hpp"

namespace metric_channel_test {

namespace cr = crochet;
using cr::MetricChannel;
using cr::testing::Script;

using crochet::test::refusal;

TEST(MetricChannel, KeepsValuesByStep) {
  MetricChannel metrics;
  EXPECT_TRUE(metrics.history("accuracy").empty());
  EXPECT_FALSE(metrics.latest("accuracy"));
  const MetricChannel same = metrics;
  same.publish("accuracy", 20, 0.2);
  same.publish("accuracy", 10, 0.1);
  same.publish("accuracy", 20, 0.25);
  const auto history = metrics.history("accuracy");
  ASSERT_EQ(history.size(), 2u);
  EXPECT_EQ(history[0].step, 10);
  EXPECT_EQ(history[1].value, 0.25) << "the later one of a step";
  EXPECT_EQ(metrics.latest("accuracy")->step, 20);
  EXPECT_EQ(metrics.version(), 3u);
}

TEST(MetricChannel, AMisspeltMetricIsVisible) {
  MetricChannel metrics;
  metrics.publish("accuracy", 1, 0.5);
  metrics.publish("loss", 1, 2);
  const std::string text = refusal([&] { (void)metrics.history("acuracy"); });
  EXPECT_EQ(text, "crochet: no metric \"acuracy\" is published; there are: accuracy, loss");
}

TEST(MetricChannel, AHistoryOfNamesIsNoPublication) {
  cr::testing::StateBox box;
  const cr::MetricChannel saved, loaded;
  saved.announce("loss");
  saved.save_history(box);
  loaded.load_history(box);
  EXPECT_TRUE(loaded.empty());
  saved.publish("loss", 1, 0.5);
  cr::testing::StateBox with_value;
  saved.save_history(with_value);
  loaded.load_history(with_value);
  EXPECT_FALSE(loaded.empty());
}

TEST(MetricChannel, TakesWhatEvaluateFound) {
  MetricChannel metrics;
  Script run{cr::Evaluate{cr::fetches<"accuracy">,
                          std::vector{cr::feeds(cr::feed<"x">(1.0))},
                          {.every_steps = 2, .at_end = false, .then = metrics, .sink = [](auto) {}}},
             cr::value<"accuracy">(0.75f), cr::placeholder<double, "x">};
  for (int i = 0; i < 5; ++i) run.step();
  const auto history = metrics.history("accuracy");
  ASSERT_EQ(history.size(), 2u);
  EXPECT_EQ(history[0].step, 2);
  EXPECT_EQ(history[1].step, 4);
  EXPECT_EQ(history[1].value, 0.75);
}

/// The values of an evaluation. Each access checks that the channel is still empty, as a hook on another thread could.
template <class... N>
struct Watched {
  const MetricChannel& metrics;
  std::int64_t step = 7;
  double operator[](auto) const {
    EXPECT_TRUE(metrics.empty());
    return 0.5;
  }
};

TEST(MetricChannel, NobodySeesHalfAnEvaluation) {
  const MetricChannel metrics;
  metrics(Watched<cr::Name<"accuracy">, cr::Name<"loss">>{metrics});
  EXPECT_EQ(metrics.latest("accuracy")->step, 7);
  EXPECT_EQ(metrics.latest("loss")->value, 0.5);
}

}  // namespace metric_channel_test
