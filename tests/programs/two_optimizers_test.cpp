// SPDX-License-Identifier: Apache-2.0
// Two optimizers on one graph, and hooks for the runs of one of them.
#include <crochet/crochet.hpp>
#include <crochet/executor/cpu.hpp>
#include <crochet/hooks.hpp>
#include <crochet/testing.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace two_optimizers_test {

namespace cr = crochet;
using namespace cr::literals;

/// A network of two layers that is applied twice with the same variables.
struct Discriminator {
  cr::Tensor w1, b1, w2, b2;

  constexpr explicit Discriminator(cr::GraphBuilder& g)
      : w1(g.variable<float>("discriminator/w1", {2, 8}, cr::glorot_uniform())),
        b1(g.variable<float>("discriminator/b1", {8}, cr::zeros())),
        w2(g.variable<float>("discriminator/w2", {8, 1}, cr::glorot_uniform())),
        b2(g.variable<float>("discriminator/b2", {1}, cr::zeros())) {}
  constexpr cr::Tensor operator()(cr::Tensor x) const { return matmul(tanh(matmul(x, w1) + b1), w2) + b2; }
};

/// A least-squares GAN: it generates points of a plane from noise, similar to the real ones.
struct Gan {
  static constexpr void define(cr::GraphBuilder& g) {
    auto batch = g.dynamic("batch");
    auto real = g.placeholder<float>("real", {batch, 2});
    auto noise = g.placeholder<float>("noise", {batch, 2});
    auto hidden = relu(dense(noise, 8, "generator/hidden"));
    auto samples = g.name("samples", dense(hidden, 2, "generator/output"));
    const Discriminator judge{g};
    auto of_samples = judge(samples);
    auto d_loss = g.name("d_loss", reduce_mean(square(judge(real) - 1)) + reduce_mean(square(of_samples)));
    auto g_loss = g.name("g_loss", reduce_mean(square(of_samples - 1)));
    g.name("discriminator",
           minimize(d_loss, cr::Adam{.learning_rate = 1e-2}, {.scope = "discriminator/", .count_step = false}));
    g.name("generator", minimize(g_loss, cr::Adam{.learning_rate = 5e-3}, {.scope = "generator/"}));
  }
};

/// Real points lie around (2, -1).
struct Points {
  std::vector<float> real, noise;
  std::mt19937 random{1};

  auto next(std::size_t count = 32) {
    real.clear(), noise.clear();
    for (std::size_t i = 0; i < count; ++i) {
      for (const float centre : {2.0f, -1.0f}) real.push_back(centre + 0.2f * uniform()), noise.push_back(uniform());
    }
    return cr::feeds(cr::feed<"real">(real), cr::feed<"noise">(noise));
  }

 private:
  float uniform() { return static_cast<float>(random() % 20001) / 10000.0f - 1; }
};

/// Counts its calls; fetches the value in each of its runs.
template <cr::FixedString Text>
struct Sees {
  static constexpr auto fetches = cr::fetches<Text>;
  void before_run(auto&) { ++befores; }
  void after_run(auto&, const auto& values) {
    ++afters;
    last = values[cr::Name<Text>{}];
  }
  int befores = 0;
  int afters = 0;
  float last = -1;
};

template <class Session>
auto everything(Session& session) {
  std::vector<std::vector<float>> all;
  const auto add = [&](auto... name) {
    (all.emplace_back(session.executor().variable(name).begin(), session.executor().variable(name).end()), ...);
  };
  add("generator/hidden/kernel"_n, "generator/hidden/bias"_n, "generator/output/kernel"_n, "generator/output/bias"_n);
  add("discriminator/w1"_n, "discriminator/b1"_n, "discriminator/w2"_n, "discriminator/b2"_n);
  return all;
}

/// One letter per variable, in the order of everything(): g or d if it changed, otherwise '-'.
std::string moved(const std::vector<std::vector<float>>& before, const std::vector<std::vector<float>>& after) {
  std::string letters;
  for (std::size_t i = 0; i < before.size(); ++i) letters += before[i] == after[i] ? '-' : i < 4 ? 'g' : 'd';
  return letters;
}

TEST(TwoOptimizers, MoveTheirOwnVariablesAndOneCountsTheSteps) {
  Points points;
  cr::MonitoredSession session{cr::Cpu{}.compile<Gan>(), cr::HookChain{}};
  cr::run_session(session, [&](auto& s) {
    const auto feed = points.next();
    auto before = everything(s);
    s.run("discriminator"_n, feed);
    EXPECT_EQ(moved(before, everything(s)), "----dddd");
    EXPECT_EQ(s.step(), 0) << "count_step = false";

    before = everything(s);
    s.run("generator"_n, feed);
    EXPECT_EQ(moved(before, everything(s)), "gggg----");
    EXPECT_EQ(s.step(), 1);

    before = everything(s);
    s.run(cr::targets<"discriminator", "generator">, feed);
    EXPECT_EQ(moved(before, everything(s)), "ggggdddd");
    EXPECT_EQ(s.step(), 2);

    before = everything(s);
    const auto [samples] = s.run(cr::no_hooks, cr::fetches<"samples">, feed);
    EXPECT_EQ(samples.extent(0), 32);
    EXPECT_EQ(samples.extent(1), 2);
    EXPECT_EQ(moved(before, everything(s)), "--------");
    EXPECT_EQ(s.step(), 2);
  });
}

TEST(TwoOptimizers, HaveHooksOfTheirOwn) {
  Points points;
  const cr::testing::RecordingSink d_log, g_log;
  const cr::testing::ManualClock clock;
  using DSees = cr::OnlyIn<"discriminator", Sees<"d_loss">>;
  using GSees = cr::OnlyIn<"generator", Sees<"g_loss">>;
  cr::HookChain chain{
      cr::OnlyIn<"discriminator", cr::LoggingTensor<"d_loss">>{
          {.every_steps = 50, .anchor = cr::Anchor::first_run, .sink = d_log, .clock = clock}},  // its runs, not steps
      cr::OnlyIn<"generator", cr::LoggingTensor<"g_loss">>{{.every_steps = 10, .sink = g_log, .clock = clock}}, DSees{},
      GSees{}, cr::StopAtStep{.last_step = 30}};
  cr::MonitoredSession session{cr::Cpu{.threads = 2}.compile<Gan>(), chain};
  cr::run_session(session, [&](auto& s) {
    while (!s.should_stop()) {
      for (int i = 0; i < 5; ++i) s.run("discriminator"_n, points.next());
      s.run("generator"_n, points.next());
      const auto [samples] = s.run(cr::no_hooks, cr::fetches<"samples">, points.next());
      EXPECT_TRUE(std::isfinite(samples(0, 0)));
    }
  });
  EXPECT_EQ(session.step(), 30) << "steps of the generator";
  EXPECT_EQ(session.stop_reason().hook, "StopAtStep");
  EXPECT_EQ(d_log.lines().size(), 3U) << d_log.text();
  EXPECT_EQ(g_log.lines().size(), 3U) << g_log.text();
  EXPECT_TRUE(d_log.lines()[0].starts_with("step 0: d_loss = ")) << d_log.text();
  EXPECT_TRUE(g_log.lines()[0].starts_with("step 10: g_loss = ")) << g_log.text();
  const auto& d = session.hooks().get<DSees>().hook;
  const auto& g = session.hooks().get<GSees>().hook;
  EXPECT_EQ(d.befores, 150);
  EXPECT_EQ(d.afters, 150);
  EXPECT_EQ(g.befores, 30);
  EXPECT_EQ(g.afters, 30);
  EXPECT_GT(d.last, 0);
  EXPECT_GT(g.last, 0);
}

/// A run fetches a hook's values only if the hook belongs to its plan. The recorded demands show this.
TEST(TwoOptimizers, FetchForAHookOnlyInItsPlan) {
  cr::testing::ScriptLog log;
  cr::testing::ScriptedExecutor executor{log, cr::value<"d_loss">(1.0f), cr::value<"g_loss">(2.0f),
                                         cr::targets<"discriminator", "generator">};
  cr::MonitoredSession session{executor, cr::HookChain{cr::OnlyIn<"discriminator", Sees<"d_loss">>{},
                                                       cr::OnlyIn<"generator", Sees<"g_loss">>{}}};
  cr::run_session(session, [](auto& s) {
    s.run("discriminator"_n);
    s.run("generator"_n);
    s.run(cr::targets<"discriminator", "generator">);
    s.run();
    s.run(cr::no_hooks, "generator"_n);
  });
  std::string fetched;
  for (const auto& run : log.runs) fetched += "[" + run.fetched + "]";
  EXPECT_EQ(fetched, "[d_loss][g_loss][d_loss g_loss][][]");
  EXPECT_EQ(log.reads["d_loss"], 2);
  EXPECT_EQ(log.reads["g_loss"], 2);
}

/// A hook may fetch a value that the other plan could not compute, because its placeholders are not fed there.
TEST(TwoOptimizers, NeedOnlyWhatTheirOwnPlanNeeds) {
  Points points;
  points.next();
  cr::MonitoredSession session{cr::Cpu{}.compile<Gan>(), cr::HookChain{cr::OnlyIn<"discriminator", Sees<"d_loss">>{}}};
  cr::run_session(session, [&](auto& s) {
    s.run("generator"_n, cr::feed<"noise">(points.noise));  // d_loss needs the real points
    EXPECT_EQ(s.hooks().template at<0>().hook.befores, 0);
    s.run("discriminator"_n, cr::feed<"noise">(points.noise), cr::feed<"real">(points.real));
    EXPECT_EQ(s.hooks().template at<0>().hook.afters, 1);
  });
}

TEST(TwoOptimizers, TeachTheGeneratorWhereTheRealPointsAre) {
  Points points;
  cr::MonitoredSession session{
      cr::Cpu{.seed = 3}.compile<Gan>(),
      cr::HookChain{cr::StopAtStep{.last_step = 500}, cr::OnlyIn<"discriminator", cr::NanTensor<"d_loss">>{}}};
  double x = 0, y = 0;
  cr::run_session(session, [&](auto& s) {
    while (!s.should_stop()) {
      for (int i = 0; i < 5; ++i) s.run("discriminator"_n, points.next());
      s.run("generator"_n, points.next());
    }
    const auto [samples] = s.run(cr::no_hooks, cr::fetches<"samples">, points.next(200));
    for (std::int64_t i = 0; i < 200; ++i) x += samples(i, 0) / 200.0, y += samples(i, 1) / 200.0;
  });
  EXPECT_NEAR(x, 2, 0.7);
  EXPECT_NEAR(y, -1, 0.7);
}

}  // namespace two_optimizers_test
