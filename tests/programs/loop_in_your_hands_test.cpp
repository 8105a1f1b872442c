// SPDX-License-Identifier: Apache-2.0
// A user-written loop: a MonitoredSession, run_session, values by structured binding.
#include <crochet/crochet.hpp>
#include <crochet/executor/cpu.hpp>
#include <crochet/hooks.hpp>
#include <crochet/testing.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "flowers.hpp"

namespace loop_in_your_hands_test {

namespace cr = crochet;
using namespace cr::literals;

struct Classifier {
  static constexpr void define(cr::GraphBuilder& g) {
    auto images = g.placeholder<float>("images", {g.dynamic("batch"), 8});
    auto labels = g.placeholder<std::int32_t>("labels", {g.dynamic("batch")});
    auto logits = g.name("logits", dense(images, 3, "output"));
    auto loss = g.name("loss", sparse_softmax_cross_entropy(logits, labels));
    g.name("accuracy", reduce_mean(cast<float>(equal(argmax(logits), labels))));
    g.name("train", minimize(loss, cr::SGD{.learning_rate = 0.5}));
  }
};

struct Window {
  std::vector<float> curve;
  void draw(float loss) { curve.push_back(loss); }
};

TEST(ALoopInYourHands, GetsTypedValuesAndStopsWhenAHookSays) {
  programs::Flowers data;
  Window window;
  const cr::testing::RecordingSink log;
  cr::HookChain chain{cr::StopAtStep{.last_step = 30}, cr::LoggingTensor<"loss">{.at_end = true, .sink = log}};
  cr::MonitoredSession session{cr::Cpu{}.compile<Classifier>(), chain};
  cr::run_session(session, [&](auto& s) {
    while (!s.should_stop()) {
      const auto [x, y] = data.next(24);
      auto [loss] = s.run(cr::fetches<"loss">, cr::targets<"train">, cr::feed<"images">(x), cr::feed<"labels">(y));
      static_assert(std::is_same_v<decltype(loss), float>);
      window.draw(loss);
    }
  });
  ASSERT_EQ(window.curve.size(), 30U);
  EXPECT_LT(window.curve.back(), 0.3f * window.curve.front());
  EXPECT_EQ(session.step(), 30);
  EXPECT_EQ(session.stop_reason().reason, "step 30 was reached");
  EXPECT_TRUE(session.closed());
  ASSERT_EQ(log.lines().size(), 1U);
  const std::string line = log.lines()[0];  // step N: loss = VALUE
  ASSERT_NE(line.find("loss = "), std::string::npos) << line;
  EXPECT_NEAR(std::stof(line.substr(line.find("loss = ") + 7)), window.curve.back(), 1e-4f)
      << "hook and caller see one value";
}

TEST(ALoopInYourHands, TakesTensorsAndRunsWithoutTraining) {
  programs::Flowers data;
  cr::MonitoredSession session{cr::Cpu{}.compile<Classifier>(), cr::HookChain{cr::NanTensor<"loss">{}}};
  cr::run_session(session, [&](auto& s) {
    const auto [x, y] = data.next(12);
    const auto feed = cr::feeds(cr::feed<"images">(x), cr::feed<"labels">(y));
    auto [before, logits] = s.run(cr::fetches<"loss", "logits">, feed);
    EXPECT_EQ(logits.extent(0), 12);
    EXPECT_EQ(logits.extent(1), 3);
    EXPECT_EQ(s.step(), 0) << "no target, no training";
    auto [same] = s.run(cr::fetches<"loss">, feed);
    EXPECT_EQ(same, before);
    for (int i = 0; i < 50; ++i) s.run("train"_n, feed);
    EXPECT_EQ(s.step(), 50);
    auto [after, accuracy] = s.run(cr::no_hooks, cr::fetches<"loss", "accuracy">, feed);
    EXPECT_LT(after, before);
    EXPECT_EQ(accuracy, 1.0f);
  });
}

struct SeesTheWayOut {
  void end(auto&) { *way += "end "; }
  void on_error(std::exception_ptr) { *way += "error "; }
  std::string* way;
};

TEST(ALoopInYourHands, LeavesTheRightExceptionsOut) {
  std::string way;
  const auto leave_by = [&](auto error) {
    cr::MonitoredSession session{cr::Cpu{}.compile<Classifier>(), cr::HookChain{SeesTheWayOut{&way}}};
    cr::run_session(session, [&](auto&) { throw error; });
  };
  EXPECT_NO_THROW(leave_by(cr::OutOfRangeError("the data has ended")));
  EXPECT_NO_THROW(leave_by(cr::StopIteration("enough")));
  EXPECT_EQ(way, "end end ");
  EXPECT_THROW(leave_by(std::runtime_error("a real one")), std::runtime_error);
  EXPECT_EQ(way, "end end error ");
}

TEST(ALoopInYourHands, RefusesAFeedOfTheWrongSizeAndGoesOn) {
  programs::Flowers data;
  const auto [x, y] = data.next(6);
  cr::MonitoredSession session{cr::Cpu{}.compile<Classifier>(), cr::HookChain{cr::StopAtStep{.last_step = 1}}};
  cr::run_session(session, [&, &x = x, &y = y](auto& s) {
    const std::vector<std::int32_t> too_few(5);
    try {
      s.run("train"_n, cr::feed<"images">(x), cr::feed<"labels">(too_few));
      ADD_FAILURE() << "no exception";
    } catch (const cr::ShapeError& error) {
      const std::string what = error.what();
      EXPECT_NE(what.find("labels"), std::string::npos) << what;
      EXPECT_NE(what.find("batch=6"), std::string::npos) << what;
      EXPECT_NE(what.find("5"), std::string::npos) << what;
    }
    EXPECT_EQ(s.step(), 0);
    s.run("train"_n, cr::feed<"images">(x), cr::feed<"labels">(y));
    EXPECT_TRUE(s.should_stop());
  });
}

}  // namespace loop_in_your_hands_test
