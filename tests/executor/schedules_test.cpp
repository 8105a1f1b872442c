// SPDX-License-Identifier: Apache-2.0
// Learning-rate schedules and gradient clipping against plain code.
#include <gtest/gtest.h>
#include <crochet/crochet.hpp>
#include <crochet/executor/cpu.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "device_under_test.hpp"

namespace crochet {
namespace schedules_test {

using namespace crochet::literals;

/// A user-defined schedule.
struct InverseRoot {
  double initial = 1;
  constexpr Tensor operator()(Tensor step) const { return initial / sqrt(step + 1); }
};

constexpr ExponentialDecay exponential{.initial = 0.5, .decay_steps = 7, .decay_rate = 0.9};
constexpr PolynomialDecay line{.initial = 0.5, .decay_steps = 7, .end = 0.1};

struct Schedules {
  static constexpr void define(GraphBuilder& g) {
    const Tensor step = g.placeholder<double>("step", {});
    const auto name = [&](std::string_view what, const Rate& rate) { g.name(what, rate.at(step)); };
    name("number", 0.25);
    name("exponential", exponential);
    name("staircase", ExponentialDecay{.initial = 0.5, .decay_steps = 7, .decay_rate = 0.9, .staircase = true});
    name("cosine", CosineDecay{.initial = 0.5, .decay_steps = 7});
    name("cosine_to", CosineDecay{.initial = 0.5, .decay_steps = 7, .alpha = 0.1});
    name("line", line);
    name("square", PolynomialDecay{.initial = 0.5, .decay_steps = 7, .end = 0.1, .power = 2});
    name("power", PolynomialDecay{.initial = 0.5, .decay_steps = 7, .end = 0.1, .power = 0.7});
    name("pieces", PiecewiseConstant{.boundaries = {3, 10}, .values = {0.5, 0.25, 0.125}});
    name("one_piece", PiecewiseConstant{.boundaries = {}, .values = {0.5}});
    name("warmup", LinearWarmup{.steps = 5, .then = exponential});
    name("warmup_from",
         LinearWarmup{.steps = 5, .then = LinearWarmup{.steps = 3, .then = 0.5, .from = 0.2}, .from = 0.1});
    name("own", InverseRoot{.initial = 0.5});
    name("lambda", [](Tensor at) { return cast<float>(at) * 0.5; });
  }
};

TEST(Schedules, AreTheirFormulas) {
  MonitoredSession session{DeviceUnderTest{}.compile<Schedules>()};
  for (int step = 0; step < 25; ++step) {
    SCOPED_TRACE(step);
    const double t = step, done = std::min(t / 7, 1.0), after = std::max(t - 5, 0.0);
    const auto rates =
        session.run(fetches<"number", "exponential", "staircase", "cosine", "cosine_to", "line", "square", "power",
                            "pieces", "one_piece", "warmup", "warmup_from", "own", "lambda">,
                    feed<"step">(t));
    EXPECT_EQ(rates["number"_n], 0.25);
    EXPECT_NEAR(rates["exponential"_n], 0.5 * std::pow(0.9, t / 7), 1e-15);
    EXPECT_NEAR(rates["staircase"_n], 0.5 * std::pow(0.9, step / 7), 1e-15);
    const double wave = (1 + std::cos(std::acos(-1.0) * done)) / 2;
    EXPECT_NEAR(rates["cosine"_n], 0.5 * wave, 1e-15);
    EXPECT_NEAR(rates["cosine_to"_n], 0.5 * (0.9 * wave + 0.1), 1e-15);
    EXPECT_NEAR(rates["line"_n], 0.4 * (1 - done) + 0.1, 1e-15);
    EXPECT_NEAR(rates["square"_n], 0.4 * (1 - done) * (1 - done) + 0.1, 1e-15);
    EXPECT_NEAR(rates["power"_n], 0.4 * std::pow(1 - done, 0.7) + 0.1, 1e-15);
    EXPECT_EQ(rates["pieces"_n], step < 3 ? 0.5 : step < 10 ? 0.25 : 0.125);
    EXPECT_EQ(rates["one_piece"_n], 0.5);
    EXPECT_NEAR(rates["warmup"_n], 0.5 * std::pow(0.9, after / 7) * std::min(t / 5, 1.0), 1e-15);
    EXPECT_NEAR(rates["warmup_from"_n],
                step < 5   ? 0.1 + (0.2 - 0.1) * t / 5
                : step < 8 ? 0.2 + (0.5 - 0.2) * after / 3
                           : 0.5,
                1e-15);
    EXPECT_NEAR(rates["own"_n], 0.5 / std::sqrt(t + 1), 1e-15);
    EXPECT_NEAR(rates["lambda"_n], 0.5 * t, 1e-15);
  }
  session.close();
}

TEST(Schedules, RefuseWhatMakesNoSense) {
  GraphBuilder g;
  const Tensor step = g.placeholder<double>("step", {});
  EXPECT_THROW(Rate(ExponentialDecay{.decay_steps = 0}), GraphError);
  EXPECT_THROW(Rate(LinearWarmup{.steps = -1}), GraphError);
  EXPECT_THROW(Rate(PolynomialDecay{.decay_steps = NAN}), GraphError);
  EXPECT_THROW(Rate([&](Tensor) { return g.placeholder<float>("two", {2}); }).at(step), GraphError);
  EXPECT_THROW(Rate([&](Tensor) { return g.constant(1); }).at(step), GraphError);
  EXPECT_THROW(Rate(PiecewiseConstant{.boundaries = {1}, .values = {1}}), GraphError);
  EXPECT_THROW(Rate(PiecewiseConstant{.boundaries = {2, 1}, .values = {1, 2, 3}}), GraphError);
  EXPECT_THROW(Rate(PiecewiseConstant{.boundaries = {1, 1}, .values = {1, 2, 3}}), GraphError);
}

/// Function, the type in which Rate and MinimizeOptions::clip store their callables.
constexpr int called_in_the_compiler() {
  int calls = 0;
  Function<int(int)> f = [&calls](int x) { return ++calls, 2 * x; };
  Function<int(int)> copy = f, moved = std::move(f);
  f = copy;
  return f(1) + copy(10) + moved(100) + calls + (Function<int(int)>() ? 1000 : 0);
}
static_assert(called_in_the_compiler() == 2 + 20 + 200 + 3);

TEST(Schedules, AreHeldByCopies) {
  EXPECT_EQ(called_in_the_compiler(), 225);
  const std::vector<int> kept{1, 2, 3};
  Function<std::size_t()> f = [kept] { return kept.size(); };
  Function<std::size_t()> g = f;
  f = {};
  EXPECT_FALSE(f);
  EXPECT_EQ(g(), 3U);
  g = std::move(g);
  EXPECT_EQ(g(), 3U);
}

/// The rate is a scalar computed from global_step. All variables share it, and hooks access it by its name.
struct Scheduled {
  static constexpr void define(GraphBuilder& g) {
    const Tensor a = g.variable<float>("a", {3}, zeros()), b = g.variable<double>("b", {2}, zeros());
    const Tensor loss = cast<double>(reduce_sum(a)) + reduce_sum(b);
    g.name("train",
           minimize(loss, SGD{.learning_rate = LinearWarmup{.steps = 4, .then = InverseRoot{.initial = 0.5}}}));
    const Tensor fed = g.placeholder<float>("rate", {});
    g.name("train_fed", minimize(loss, SGD{.learning_rate = fed}, {.scope = "a", .count_step = false}));
  }
};

TEST(Schedules, DriveAnOptimizerByTheGlobalStep) {
  MonitoredSession session{DeviceUnderTest{}.compile<Scheduled>()};
  double w = 0;
  for (int step = 0; step < 10; ++step) {
    const double expected = step < 4 ? 0.125 * step : 0.5 / std::sqrt(step - 3);
    const auto [rate] = session.run(fetches<"learning_rate">, targets<"train">);
    w -= expected;
    EXPECT_NEAR(rate, expected, 1e-15) << step;
    EXPECT_NEAR(session.executor().variable("b"_n)[1], w, 1e-14) << step;
    EXPECT_NEAR(session.executor().variable("a"_n)[1], w, 1e-6) << step;
  }
  EXPECT_EQ(session.step(), 10);
  session.run(targets<"train_fed">, feed<"rate">(2.0F));
  EXPECT_NEAR(session.executor().variable("a"_n)[1], w - 2, 1e-6);
  EXPECT_NEAR(session.executor().variable("b"_n)[1], w, 1e-14);
  EXPECT_EQ(session.step(), 10);
  session.close();
}

/// Gradients c of a and d of b, both [5], clipped in each way. SGD of rate 1 from 0 leaves the negated clipped gradient
/// in the variable.
struct Clipped {
  static constexpr void define(GraphBuilder& g) {
    const Tensor c = g.placeholder<double>("c", {5}), d = g.placeholder<float>("d", {5});
    const auto learn = [&](std::string_view target, std::string_view scope, std::string_view a_name,
                           std::string_view b_name, Function<void(VariableGradients&)> clip) {
      const Tensor a = g.variable<double>(a_name, {5}, zeros()), b = g.variable<float>(b_name, {5}, zeros());
      const Tensor loss = reduce_sum(a * c) + cast<double>(reduce_sum(b * d));
      g.name(target, minimize(loss, SGD{.learning_rate = 1}, {.scope = scope, .clip = clip}));
    };
    learn("train_value", "v/", "v/a", "v/b", ClipByValue{.limit = 0.5});
    learn("train_norm", "n/", "n/a", "n/b", ClipByNorm{.limit = 2});
    learn("train_global", "g/", "g/a", "g/b", ClipByGlobalNorm{2.0});
    learn("train_own", "o/", "o/a", "o/b", [](VariableGradients& all) {
      ClipByValue{0.5}(all);
      for (VariableGradient& v : all) v.gradient = v.gradient * 2;
    });
  }
};

double norm_of(const std::vector<double>& x) {
  double sum = 0;
  for (double e : x) sum += e * e;
  return std::sqrt(sum);
}

/// Two optimizers in one run, of which the first counts the step.
struct TwoRates {
  static constexpr void define(GraphBuilder& g) {
    const Tensor x = g.placeholder<float>("x", {g.dynamic("batch")});
    const auto train = [&](const char* name, const MinimizeOptions& options) {
      const Tensor loss = reduce_mean(x * g.variable<float>(name, {}, zeros()));
      return minimize(loss, SGD{PiecewiseConstant{{1, 2}, {1, 10, 100}}}, options);
    };
    const Tensor a = train("a/w", {.scope = "a/"});
    g.name("train", group({a, train("b/w", {.scope = "b/", .count_step = false})}));
  }
};
TEST(Schedules, AreOfTheSameStepForTwoOptimizers) {
  MonitoredSession session{DeviceUnderTest{.threads = 1}.compile<TwoRates>()};
  float expected = 0;
  for (const float rate : {1.F, 10.F, 100.F}) {
    const auto [a, b] =
        session.run(fetches<"a/learning_rate", "b/learning_rate">, targets<"train">, feed<"x">(std::vector<float>{1}));
    EXPECT_EQ(a, rate);
    EXPECT_EQ(b, rate);
    expected -= rate;
    EXPECT_EQ(session.executor().variable("a/w"_n)[0], expected);
    EXPECT_EQ(session.executor().variable("b/w"_n)[0], expected);
  }
  session.close();
}

TEST(Clipping, LimitsWhatTheOptimizerSees) {
  for (double scale : {0.1, 1.0, 30.0, 0.0}) {
    SCOPED_TRACE(scale);
    std::vector<double> c, d;
    for (int i = 0; i < 5; ++i) c.push_back(scale * (i - 1.5)), d.push_back(scale * (0.5 - i));
    const std::vector<float> d_float(d.begin(), d.end());
    MonitoredSession session{DeviceUnderTest{}.compile<Clipped>()};
    const auto [norm] =
        session.run(fetches<"global_norm">, targets<"train_value", "train_norm", "train_global", "train_own">,
                    feed<"c">(c), feed<"d">(d_float));
    const double both = std::hypot(norm_of(c), norm_of(d));
    EXPECT_NEAR(norm, both, 1e-6 * both);
    auto& e = session.executor();
    for (std::size_t i = 0; i < 5; ++i) {
      const auto near = [&](double given, double expected) { EXPECT_NEAR(-given, expected, 2e-6) << i; };
      near(e.variable("v/a"_n)[i], std::clamp(c[i], -0.5, 0.5));
      near(e.variable("v/b"_n)[i], std::clamp(d[i], -0.5, 0.5));
      near(e.variable("n/a"_n)[i], c[i] * 2 / std::max(norm_of(c), 2.0));
      near(e.variable("n/b"_n)[i], d[i] * 2 / std::max(norm_of(d), 2.0));
      near(e.variable("g/a"_n)[i], c[i] * 2 / std::max(both, 2.0));
      near(e.variable("g/b"_n)[i], d[i] * 2 / std::max(both, 2.0));
      near(e.variable("o/b"_n)[i], 2 * std::clamp(d[i], -0.5, 0.5));
    }
    session.close();
  }
}

/// Clipping must not hide a NaN in a gradient.
TEST(Clipping, LetsNaNThrough) {
  MonitoredSession session{DeviceUnderTest{}.compile<Clipped>()};
  const std::vector<double> c{1, NAN, 1, 1, 1};
  const std::vector<float> d(5, 1.0F);
  session.run(targets<"train_value", "train_global">, feed<"c">(c), feed<"d">(d));
  EXPECT_TRUE(std::isnan(session.executor().variable("v/a"_n)[1]));
  EXPECT_TRUE(std::isnan(session.executor().variable("g/b"_n)[0]));
  session.close();
}

/// As in TensorFlow. 0 for all of them would be a training that does not move.
TEST(Clipping, ANormThatIsNotFiniteMakesAllGradientsNaN) {
  for (const double large : {1e200, std::numeric_limits<double>::infinity()}) {  // the square overflows
    MonitoredSession session{DeviceUnderTest{}.compile<Clipped>()};
    const std::vector<double> c{1, large, 1, 1, 1};
    const std::vector<float> d(5, 1.0F);
    const auto [norm] =
        session.run(fetches<"global_norm">, targets<"train_norm", "train_global">, feed<"c">(c), feed<"d">(d));
    EXPECT_TRUE(std::isinf(norm));
    for (std::size_t i = 0; i < 5; ++i) {
      EXPECT_TRUE(std::isnan(session.executor().variable("g/a"_n)[i])) << i;
      EXPECT_TRUE(std::isnan(session.executor().variable("g/b"_n)[i])) << i;
    }
    EXPECT_EQ(session.executor().variable("n/a"_n)[0], 0) << "clip_by_norm divides by the norm";
    EXPECT_LT(session.executor().variable("n/b"_n)[0], 0);
    session.close();
  }
}

}  // namespace schedules_test
}  // namespace crochet
