// SPDX-License-Identifier: Apache-2.0
// Stock hooks on a graph. A step in which no hook is due executes the nodes of a plain step and copies nothing.
// Averages, rates and workspaces are those of the executor.
#include <crochet/crochet.hpp>
#include <crochet/executor/cpu.hpp>
#include <crochet/hooks.hpp>
#include <crochet/testing/manual_clock.hpp>
#include <crochet/testing/recorded_summaries.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../executor/device_under_test.hpp"
#include "../io/temporary_folder.hpp"

namespace on_cpu_test {

namespace cr = crochet;
using namespace cr::literals;

/// loss = mean over the batch of (x w + b - y)^2. "error" and "accuracy" are computed only if fetched.
struct Line {
  static constexpr void define(cr::GraphBuilder& g) {
    const auto x = g.placeholder<float>("x", {4, 3});
    const auto y = g.placeholder<float>("y", {4, 1});
    const auto rate = g.placeholder<float>("learning_rate", {});
    const auto w = g.variable<float>("w", {3, 1}, cr::constant_initializer(0.5));
    const auto b = g.variable<float>("b", {1}, cr::zeros());
    const auto error = g.name("error", matmul(x, w) + b - y);
    const auto loss = g.name("loss", reduce_mean(square(error)));
    g.name("accuracy", reduce_mean(cast<float>(less(square(error), 0.25))));
    g.name("train", minimize(loss, cr::Momentum{.learning_rate = rate}));
  }
};
const std::vector<float> x{1, 2, 3, -1, 0, 2, 0.5F, 1, 1, 3, -2, 1}, y{1, -1, 2, 0};
const auto batch = [] { return cr::feeds(cr::feed<"x">(x), cr::feed<"y">(y)); };

/// The nodes that a plan executes: kernels, and the operations and stores of fused programs.
template <class Plan>
constexpr std::int64_t nodes_of(const Plan& plan) {
  std::int64_t nodes = 0;
  for (std::size_t k = 0; k < plan.step_count; ++k) {
    const cr::Step& step = plan.steps[k];
    nodes += (step.root != nullptr ? 1 : 0) + step.instructions;
  }
  return nodes;
}

/// Counts the executed nodes and the values that are read.
template <class E>
struct Counting : E {
  template <class... H>
  using extended_by = Counting<typename E::template extended_by<H...>>;
  template <class N>
  static constexpr bool fetch_is_free = false;

  explicit Counting(E&& plain) : E(std::move(plain)) {}
  template <class Plain>
  explicit Counting(Counting<Plain>&& plain) : E(static_cast<Plain&&>(plain)) {}

  template <class D, class... F>
  void run(typename E::Workspace& workspace, const F&... feeds) {
    nodes += nodes_of(E::template plan_of<D>::plan);
    E::template run<D>(workspace, feeds...);
  }
  template <class N>
  auto fetch(typename E::Workspace& workspace) {
    ++copies;
    return E::template fetch<N>(workspace);
  }
  std::int64_t nodes = 0;
  std::int64_t copies = 0;
};

auto compiled() {
  auto plain = cr::DeviceUnderTest{}.compile<Line>();
  return Counting<decltype(plain)>{std::move(plain)};
}
struct NoSaver {
  std::string save(auto&, std::int64_t) { return "path"; }
  void restore(auto&, const std::string&) {}
  void remove(const std::string&) {}
};
struct NoTracer {
  void start() {}
  void stop(std::int64_t) {}
  void abandon() {}
};

/// Every stock hook with a cadence, at intervals of ten steps or ten seconds.
template <class Summaries>
auto everybody(const cr::test::TemporaryFolder& folder, const cr::Clock& clock, Summaries summaries) {
  const auto silent = [](std::string_view) {};
  const cr::MetricChannel metrics;
  const std::vector data(1, cr::feeds(cr::feed<"x">(x), cr::feed<"y">(y)));
  return cr::HookChain{
      cr::GlobalStepWaiter{},
      cr::LoggingTensor<"loss">{.every_steps = 10, .sink = silent, .clock = clock},
      cr::LearningRateMonitor<"loss">{.every_seconds = 10, .sink = silent, .clock = clock},
      cr::StepCounter{.every_steps = 10, .sink = silent, .clock = clock},
      cr::CsvLogger<"loss">{.path = folder / "log.csv", .every_steps = 10},
      cr::EveryN<10, cr::NanTensor<"error">>{},
      cr::EveryN<10, cr::EarlyStopping<"loss">>{{.aim = cr::Aim::lowest, .patience = 1000}},
      cr::EveryN<10, cr::StopWhen<"loss">>{{.above = 1e9}},
      cr::EverySeconds<10, cr::Snapshot<"error">>{{folder.path()}, {.clock = clock}},
      cr::SummarySaver<cr::summary::Scalar<"loss">>{.every_steps = 10, .summaries = summaries},
      cr::GradientHistograms<"loss", "w">{{.every_steps = 10, .summaries = summaries}},
      cr::WeightHistograms{.every_steps = 10, .summaries = summaries},
      cr::Evaluate{cr::fetches<"accuracy">, data, {.every_steps = 10, .then = metrics, .sink = silent, .clock = clock}},
      cr::InMemoryEvaluator{cr::fetches<"accuracy">, data, cr::HookChain<>{}, {.every_steps = 10, .sink = silent}},
      cr::BestCheckpoint{NoSaver{}, metrics, "accuracy", {.aim = cr::Aim::highest, .sink = silent}},
      cr::ReduceOnMetricPlateau<>{
          .metrics = metrics, .metric = "accuracy", .rule = {.aim = cr::Aim::lowest, .rate = 0.01}, .sink = silent},
      cr::stop_if_no_increase(metrics, "accuracy", 1000, {.run_every_steps = 10}),
      cr::CheckForStopping{},
      cr::MovingAverage{.every_steps = 10},
      cr::MemoryMonitor{.every_steps = 10, .sink = silent, .clock = clock},
      cr::Profiler{NoTracer{}, {.every_steps = 10}},
      cr::final_ops<"accuracy">(cr::feed<"x">(x), cr::feed<"y">(y)),
      cr::StopAtCheckpointStep{.checkpoint_step = [] { return 1000; }, .last_step = 1000},
      cr::TerminateOnTime{.seconds = 1000, .clock = clock},
      cr::StopAtStep{.last_step = 1000},
  };
}

TEST(NothingDue, ExecutesTheNodesOfABareStepAndCopiesNothing) {
  const cr::test::TemporaryFolder folder;
  cr::testing::ManualClock clock;
  auto plain = compiled();
  std::int64_t bare = 0;
  {
    cr::MonitoredSession session{compiled()};
    session.run("train"_n, batch(), cr::feed<"learning_rate">(0.01F));
    bare = std::exchange(session.executor().nodes, 0);
    session.close();
  }
  ASSERT_GT(bare, 0);

  cr::testing::RecordedSummaries summaries;
  auto chain = everybody(folder, clock, summaries);
  cr::MonitoredSession<decltype(plain), decltype(chain)&> session{std::move(plain), chain};
  auto& executor = session.executor();
  std::string due;
  for (int step = 1; step <= 40; ++step) {
    clock.set(step);
    executor.nodes = executor.copies = 0;
    session.run("train"_n, batch());
    EXPECT_GE(executor.nodes, bare);
    EXPECT_EQ(executor.nodes > bare, executor.copies > 0) << step;
    due += executor.nodes > bare ? 'x' : '.';
  }
  EXPECT_EQ(due, "x........xx........xx........xx........x") << "steps 1, 11, ... and 10, 20, ...";
  session.close();
}

TEST(MovingAverage, AveragesWhatIsTrainedAndNothingElse) {
  const cr::WeightAverages averages;
  cr::HookChain chain{cr::MovingAverage{.averages = averages, .decay = 0.5}};
  cr::MonitoredSession<decltype(compiled()), decltype(chain)&> session{compiled(), chain};
  EXPECT_EQ(averages.names(), (std::vector<std::string>{"w", "b"})) << "not the momentum, not the global step";
  session.run("train"_n, batch(), cr::feed<"learning_rate">(0.01F));
  const auto weights = [&] {
    const auto w = session.executor().variable("w"_n);
    return std::vector<float>(w.begin(), w.end());
  };
  const std::vector<float> trained = weights();
  EXPECT_NE(trained[0], 0.5F);
  const auto loss = [&] { return session.run(cr::no_hooks, cr::fetches<"loss">, batch())["loss"_n]; };
  const float of_trained = loss();
  {
    const auto scope = averages.swap_for_a_while();
    for (std::size_t i = 0; i < 3; ++i) EXPECT_FLOAT_EQ(weights()[i], (0.5F + trained[i]) / 2);
    EXPECT_NE(loss(), of_trained) << "a run uses the averages";
  }
  EXPECT_EQ(weights(), trained);
  EXPECT_EQ(loss(), of_trained);
  session.close();
}

/// A model whose learning rate is a variable.
struct WithRate {
  static constexpr void define(cr::GraphBuilder& g) {
    const auto rate = g.variable<float>("learning_rate", {}, cr::constant_initializer(1), false);
    const auto w = g.variable<double>("w", {}, cr::constant_initializer(8));
    const auto loss = g.name("loss", w * 1.0);
    g.name("train", minimize(loss, cr::SGD{.learning_rate = rate}));
  }
};

TEST(ReduceOnPlateau, SetsTheRateOfAGraph) {
  cr::HookChain chain{cr::ReduceOnPlateau<"loss">{
      .rule = {.aim = cr::Aim::highest, .rate = 1, .factor = 0.5, .patience = 1}, .every_steps = 2, .sink = [](auto) {
      }}};
  cr::MonitoredSession session{cr::DeviceUnderTest{}.compile<WithRate>(), chain};
  std::vector<double> w;
  for (int i = 0; i < 7; ++i) {
    session.run("train"_n);
    w.push_back(session.executor().variable("w"_n)[0]);
  }
  session.close();
  EXPECT_EQ(w, (std::vector<double>{7, 6, 5, 4, 3.5, 3, 2.75})) << "the loss falls, which is no increase";
}

TEST(MemoryMonitor, KnowsTheWorkspace) {
  std::vector<cr::MemoryUse> seen;
  cr::HookChain chain{
      cr::MemoryMonitor{.every_steps = 1, .then = [&](const auto& use) { seen.push_back(use); }, .sink = [](auto) {}}};
  cr::MonitoredSession<decltype(compiled()), decltype(chain)&> session{compiled(), chain};
  session.run("train"_n, batch(), cr::feed<"learning_rate">(0.01F));
  session.close();
  ASSERT_EQ(seen.size(), 1U);
  ASSERT_TRUE(seen[0].workspace);
  EXPECT_GT(*seen[0].workspace, 0);
}

}  // namespace on_cpu_test
