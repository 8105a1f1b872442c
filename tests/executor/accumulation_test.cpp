// SPDX-License-Identifier: Apache-2.0
// Gradient accumulation: an update accumulated over several runs equals the update of one large batch.
#include <gtest/gtest.h>
#include <crochet/crochet.hpp>
#include <crochet/executor/cpu.hpp>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <type_traits>
#include <vector>

#include "device_under_test.hpp"

namespace crochet {
namespace accumulation_test {

using namespace crochet::literals;

/// One network with Adam, a schedule and clipping. `Way`: one run per update (0), accumulation by minimize() (1), or by
/// minimize_in_parts() (2).
template <int Way>
struct Parts {
  static constexpr void define(GraphBuilder& g) {
    const Extent batch = g.dynamic("batch");
    const Tensor x = g.placeholder<double>("x", {batch, 7}), y = g.placeholder<double>("y", {batch, 3});
    const Tensor out = dense(tanh(dense(x, 5, "hidden")), 3, "out");
    const Tensor loss = g.name("loss", reduce_mean(square(out - y)));
    const AdamW optimizer{.learning_rate = ExponentialDecay{.initial = 0.05, .decay_steps = 2, .decay_rate = 0.5}};
    if constexpr (Way == 0) g.name("train", minimize(loss, optimizer, {.clip = ClipByGlobalNorm{0.1}}));
    if constexpr (Way == 1) {
      g.name("train", minimize(loss, optimizer, {.clip = ClipByGlobalNorm{0.1}, .accumulate = {.steps = 3}}));
    }
    if constexpr (Way == 2) {
      const AccumulatedStep step = minimize_in_parts(loss, optimizer, {.clip = ClipByGlobalNorm{0.1}});
      g.name("accumulate", step.accumulate);
      g.name("train", step.apply);
    }
  }
};

/// k micro-batches equal one large batch, up to rounding. global_step counts the applied updates.
TEST(Accumulation, OfMicroBatchesIsOneLargeBatch) {
  const DeviceUnderTest cpu{.threads = 2, .seed = 3};
  MonitoredSession large{cpu.compile<Parts<0>>()};
  MonitoredSession every{cpu.compile<Parts<1>>()};
  MonitoredSession parts{cpu.compile<Parts<2>>()};
  for (int step = 0; step < 4; ++step) {
    SCOPED_TRACE(step);
    std::vector<double> x(12 * 7), y(12 * 3);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = std::sin(static_cast<double>(i) * 1.3 + step);
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = 2 * std::cos(static_cast<double>(i) * 0.7 + step);
    large.run(targets<"train">, feed<"x">(x), feed<"y">(y));
    for (int part = 0; part < 3; ++part) {
      EXPECT_EQ(every.step(), step);
      const std::vector<double> some_x(x.begin() + part * 28, x.begin() + (part + 1) * 28);
      const std::vector<double> some_y(y.begin() + part * 12, y.begin() + (part + 1) * 12);
      every.run(targets<"train">, feed<"x">(some_x), feed<"y">(some_y));
      if (part < 2) parts.run(targets<"accumulate">, feed<"x">(some_x), feed<"y">(some_y));
      if (part == 2) parts.run(targets<"train">, feed<"x">(some_x), feed<"y">(some_y));
    }
    const auto same = [&](auto name) {
      const auto expected = large.executor().variable(name);
      for (std::size_t i = 0; i < expected.size(); ++i) {
        EXPECT_NEAR(every.executor().variable(name)[i], expected[i], 1e-14) << name.view() << ' ' << i;
        EXPECT_NEAR(parts.executor().variable(name)[i], expected[i], 1e-14) << name.view() << ' ' << i;
      }
    };
    same("hidden/kernel"_n), same("hidden/bias"_n), same("out/kernel"_n), same("out/bias"_n);
    same("hidden/kernel/AdamW_1"_n), same("beta2_power"_n);
    EXPECT_EQ(every.step(), step + 1);
    EXPECT_EQ(parts.step(), step + 1);
  }
  large.close(), every.close(), parts.close();
}

/// A batch norm in training, whose step takes two runs. `InParts`: by minimize_in_parts().
template <bool InParts>
struct Normalized {
  static constexpr void define(GraphBuilder& g) {
    const Tensor x = batch_norm(g.placeholder<float>("x", {g.dynamic("batch"), 2}), "norm", true, {.momentum = 0.5});
    const Tensor loss = reduce_mean(square(x * g.variable<float>("w", {2}, ones())));
    if constexpr (InParts) {
      const AccumulatedStep step = minimize_in_parts(loss, SGD{0.1});
      g.name("first", step.accumulate);
      g.name("second", step.apply);
    } else {
      g.name("first", minimize(loss, SGD{0.1}, {.accumulate = {.steps = 2}}));
      g.name("second", g["first"]);
    }
  }
};
TEST(Accumulation, MovesAveragesInEachRun) {
  const auto mean_after = []<bool InParts>(std::bool_constant<InParts>) {
    MonitoredSession session{DeviceUnderTest{.threads = 1}.compile<Normalized<InParts>>()};
    session.run(targets<"first">, feed<"x">(std::vector<float>{8, 8, 8, 8}));
    session.run(targets<"second">, feed<"x">(std::vector<float>{8, 8, 8, 8}));
    return session.executor().variable("norm/moving_mean"_n)[0];
  };
  EXPECT_EQ(mean_after(std::false_type{}), 6);
  EXPECT_EQ(mean_after(std::true_type{}), 6);
}

/// w of a loss w x, whose gradient is the mean of x.
template <int Steps>
struct Sloped {
  static constexpr void define(GraphBuilder& g) {
    const Tensor x = g.placeholder<float>("x", {g.dynamic("batch")});
    const Tensor w = g.variable<float>("w", {}, zeros());
    g.name("train", minimize(reduce_mean(x * w), SGD{1}, {.accumulate = {.steps = Steps}}));
  }
};
/// A session creator: the values of another executor.
template <class From>
struct TakesOver {
  const From& from;

  template <class E>
  void create_session(RawSession<E>& session, Coordinator& /*coordinator*/) {
    from.for_each_variable([&](std::string_view name, auto values, auto) {
      session.executor().for_each_variable([&](std::string_view other, auto elements, auto) {
        if constexpr (std::is_same_v<std::remove_cvref_t<decltype(values[0])>,
                                     std::remove_cvref_t<decltype(elements[0])>>) {
          if (name == other) std::copy(values.begin(), values.end(), elements.begin());
        }
        return name == other;
      });
    });
  }
};
/// A checkpoint within a step of three or more runs, resumed with two: the next run completes the step, with the mean
/// of all its runs.
TEST(Accumulation, IsResumedWithFewerRuns) {
  auto before = DeviceUnderTest{.threads = 1}.compile<Sloped<4>>();
  auto after = DeviceUnderTest{.threads = 1}.compile<Sloped<2>>();
  MonitoredSession first{before};
  for (const float x : {1.F, 2.F, 6.F}) first.run(targets<"train">, feed<"x">(std::vector<float>{x}));
  EXPECT_EQ(first.step(), 0);
  MonitoredSession second{after, HookChain<>{}, TakesOver<decltype(before)>{before}};
  const auto run = [&](float x) { second.run(targets<"train">, feed<"x">(std::vector<float>{x})); };
  run(3);
  EXPECT_EQ(second.step(), 1);
  EXPECT_EQ(after.variable("w"_n)[0], -3) << "the mean of 1, 2, 6 and 3";
  run(1), run(2);
  EXPECT_EQ(second.step(), 2);
  EXPECT_EQ(after.variable("w"_n)[0], -4.5F);
  first.close(), second.close();
}

TEST(Accumulation, NeedsRuns) {
  GraphBuilder g;
  const Tensor w = g.variable<float>("w", {2}, zeros());
  EXPECT_THROW(minimize(reduce_sum(w), SGD{}, {.accumulate = {.steps = 0}}), GraphError);
  EXPECT_THROW(minimize_in_parts(reduce_sum(w), SGD{}, {.accumulate = {.steps = 2}}), GraphError);
}

}  // namespace accumulation_test
}  // namespace crochet
