// SPDX-License-Identifier: Apache-2.0
// The shortest complete program: a model, data, hooks, one call.
#include <crochet/crochet.hpp>
#include <crochet/executor/cpu.hpp>
#include <crochet/hooks.hpp>
#include <crochet/testing.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "flowers.hpp"

namespace shortest_test {

namespace cr = crochet;

struct Classifier {
  static constexpr void define(cr::GraphBuilder& g) {
    auto images = g.placeholder<float>("images", {g.dynamic("batch"), 8});
    auto labels = g.placeholder<std::int32_t>("labels", {g.dynamic("batch")});
    auto hidden = relu(dense(images, 16, "hidden"));
    auto logits = g.name("logits", dense(hidden, 3, "output"));
    auto loss = g.name("loss", sparse_softmax_cross_entropy(logits, labels));
    g.name("train", minimize(loss, cr::Adam{.learning_rate = 1e-2}));
  }
};

/// The number after `loss = `.
float loss_in(const std::string& line) { return std::stof(line.substr(line.find("= ") + 2)); }

TEST(TheShortestProgram, TrainsUntilItsLastStep) {
  programs::Flowers data;
  programs::Batch b;
  auto next = [&] {
    b = data.next(24);
    return cr::feeds(cr::feed<"images">(b.images), cr::feed<"labels">(b.labels));
  };
  const cr::testing::RecordingSink log, bar;
  const cr::testing::ManualClock clock;
  const cr::StopReason why = cr::train<Classifier>(
      cr::Cpu{.threads = 2}, next,
      cr::HookChain{cr::StopAtStep{.last_step = 200},
                    cr::LoggingTensor<"loss">{.every_steps = 50, .sink = log, .clock = clock}, cr::NanTensor<"loss">{},
                    cr::ProgressBar{.total = 200, .columns = 0, .write = bar, .clock = clock}});

  EXPECT_EQ(why.hook, "StopAtStep");
  EXPECT_EQ(why.reason, "step 200 was reached");
  ASSERT_EQ(log.lines().size(), 4U) << "at steps 50, 100, 150, 200\n" << log.text();
  for (std::size_t i = 1; i < 4; ++i) EXPECT_LT(loss_in(log.lines()[i]), loss_in(log.lines()[i - 1])) << log.text();
  EXPECT_LT(loss_in(log.lines().back()), 0.1f);
  EXPECT_NE(bar.text().find("200/200"), std::string::npos) << bar.text();
}

TEST(TheShortestProgram, EndsWithItsData) {
  programs::Flowers data;
  programs::Batch b;
  using Feeds = decltype(cr::feeds(cr::feed<"images">(b.images), cr::feed<"labels">(b.labels)));
  int left = 5;
  auto next = [&]() -> std::optional<Feeds> {
    if (left-- == 0) return {};
    b = data.next(6);
    return cr::feeds(cr::feed<"images">(b.images), cr::feed<"labels">(b.labels));
  };
  cr::HookChain chain{cr::LoggingTensor<"loss">{.at_end = true, .sink = cr::testing::RecordingSink{}}};
  const cr::StopReason why = cr::train<Classifier>(cr::Cpu{}, next, chain);  // read below, so passed by reference
  EXPECT_EQ(why.hook, "the data") << "no hook requested a stop";
  EXPECT_EQ(chain.at<0>().state.step, 5);
}

TEST(TheShortestProgram, ComesToTheSameEachTime) {
  const auto run = [] {
    programs::Flowers data;
    programs::Batch b;
    auto next = [&] {
      b = data.next(24);
      return cr::feeds(cr::feed<"images">(b.images), cr::feed<"labels">(b.labels));
    };
    const cr::testing::RecordingSink log;
    const cr::testing::ManualClock clock;
    cr::train<Classifier>(cr::Cpu{.threads = 2, .seed = 7}, next,
                          cr::HookChain{cr::StopAtStep{.last_step = 20},
                                        cr::LoggingTensor<"loss">{.every_steps = 1, .sink = log, .clock = clock}});
    return log.lines();
  };
  const auto first = run();
  EXPECT_EQ(first.size(), 20U);
  EXPECT_EQ(run(), first);
}

TEST(TheShortestProgram, ThrowsWhatGoesWrongAndHooksSeeNoEnd) {
  programs::Flowers data;
  programs::Batch b;
  int batches = 0;
  auto next = [&] {
    b = data.next(6);
    if (++batches == 3) b.images[0] = std::numeric_limits<float>::quiet_NaN();  // one invalid measurement
    if (batches == 10) throw cr::StopIteration("nobody has noticed");
    return cr::feeds(cr::feed<"images">(b.images), cr::feed<"labels">(b.labels));
  };
  cr::HookChain chain{cr::NanTensor<"loss">{}, cr::FinalOps<"hidden/bias">{}};
  EXPECT_THROW(cr::train<Classifier>(cr::Cpu{}, next, chain), cr::NanLossError);
  EXPECT_EQ(batches, 3);
  EXPECT_TRUE(chain.at<1>()[cr::Name<"hidden/bias">{}].empty());
}

}  // namespace shortest_test
