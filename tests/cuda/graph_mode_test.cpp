// SPDX-License-Identifier: Apache-2.0
// A run as a graph of one kernel a step: its edges are the plan's barriers, and results are the same bits as those of
// launches of several runs. The device in software runs, of the nodes whose edges permit it, the last one first.
#include <gtest/gtest.h>
#include <crochet/crochet.hpp>
#include <crochet/executor/cpu.hpp>
#include <crochet/executor/cuda/executor.hpp>
#include <crochet/hooks.hpp>
#include <crochet/testing/recording_sink.hpp>

#include <cmath>
#include <limits>
#include <vector>

#include "emulation/software_device.hpp"

namespace crochet {
namespace graph_mode_test {

using namespace crochet::literals;
using emulation::SoftwareDevice;

/// Two independent layers, so that some steps have no barrier between them.
struct Mlp {
  static constexpr void define(GraphBuilder& g) {
    const Extent batch = g.dynamic("batch");
    const Tensor x = g.placeholder<float>("x", {batch, 5}), labels = g.placeholder<std::int32_t>("labels", {batch});
    const Tensor both = relu(dense(x, 6, "left")) + relu(dense(x, 6, "right"));
    const Tensor loss = g.name("loss", sparse_softmax_cross_entropy(dense(both, 3, "out"), labels));
    g.name("train", minimize(loss, Adam{.learning_rate = 1e-2}));
  }
};
using Gpu = cuda::Executor<SoftwareDevice, Mlp>;
using Train = Demand<Names<>, Names<Name<"train">>>;
using Plan = Gpu::plan_of<Train>;

TEST(GraphMode, TheEdgesAreTheBarriersOfThePlan) {
  const cuda::PlanSource source = cuda::PlanCode<Plan>::source();
  const std::size_t steps = source.steps.size();
  ASSERT_GT(steps, 4U);
  const cuda::PlanGraph graph(source, true);
  ASSERT_EQ(graph.size(), steps + 1);
  // depends[a][b]: a runs behind b, also through other nodes.
  std::vector<std::vector<bool>> depends(steps + 1, std::vector<bool>(steps + 1));
  for (std::size_t a = 0; a <= steps; ++a) {
    const auto [first, last] = graph.dependencies(a);
    for (std::size_t b = first; b < last; ++b) {
      depends[a][b] = true;
      for (std::size_t c = 0; c < b; ++c) depends[a][c] = depends[a][c] || depends[b][c];
    }
  }
  int without = 0;
  for (std::size_t a = 0; a <= steps; ++a) {
    for (std::size_t b = 0; b < a; ++b) {
      bool barrier = a == steps;
      for (std::size_t s = b + 1; s <= a && s < steps; ++s) barrier = barrier || Plan::plan.steps[s].barrier;
      EXPECT_EQ(depends[a][b], barrier) << a << " behind " << b;
      without += barrier ? 0 : 1;
    }
  }
  EXPECT_GT(without, 0) << "the plan has steps without a barrier between them";
  EXPECT_EQ(cuda::PlanGraph(source, false).size(), steps);
}

std::vector<float> trained(const std::shared_ptr<SoftwareDevice>& device, CudaMode mode) {
  Gpu executor(device, {.mode = mode, .steps_per_launch = 4});
  Gpu::Workspace workspace;
  executor.initialize();
  for (int step = 0; step < 9; ++step) {
    std::vector<float> x(4 * 5);
    for (std::size_t k = 0; k < x.size(); ++k) x[k] = std::sin(static_cast<float>(k) + 3 * static_cast<float>(step));
    executor.run<Train>(workspace, feed<"x">(x), feed<"labels">(std::vector<std::int32_t>{0, 2, 1, step % 3}));
  }
  std::vector<float> all;
  executor.for_each_variable([&]<class T>(std::string_view, std::span<T> values, std::span<const std::int64_t>) {
    if constexpr (std::is_same_v<T, float>) all.insert(all.end(), values.begin(), values.end());
  });
  return all;
}
TEST(GraphMode, ResultsAreTheSameBits) {
  const auto device = std::make_shared<SoftwareDevice>(2);
  EXPECT_EQ(trained(device, CudaMode::graph), trained(std::make_shared<SoftwareDevice>(1), CudaMode::steps_per_launch));
  EXPECT_EQ(device->counters.graphs, 9);
  EXPECT_EQ(device->counters.runs, 9);
  EXPECT_EQ(device->counters.launches, 0);
  EXPECT_EQ(device->counters.orders, 3);  // feeds are uploaded for four runs at a time
}

TEST(GraphMode, NanTensorReportsTheStepThatFailed) {
  const auto device = std::make_shared<SoftwareDevice>(2);
  MonitoredSession session{Gpu(device, {.mode = CudaMode::graph, .steps_per_launch = 4}),
                           HookChain{NanTensor<"loss">{}, StopAtStep{.last_step = 9}}};
  std::string text;
  try {
    for (int step = 1; !session.should_stop(); ++step) {
      const std::vector<float> x(10, step == 3 ? std::numeric_limits<float>::quiet_NaN() : 1);
      session.run("train"_n, feed<"x">(x), feed<"labels">(std::vector<std::int32_t>{0, 1}));
    }
  } catch (const NanLossError& error) {
    text = error.what();
  }
  EXPECT_EQ(text, "crochet: loss is NaN at step 3");
  EXPECT_EQ(session.step(), 3);
  EXPECT_EQ(session.executor().variable("global_step"_n)[0], 3);
  session.close();
}

/// The loss is infinite where x is large, and NaN where it is NaN.
struct Pair {
  static constexpr void define(GraphBuilder& g) {
    const Tensor x = g.placeholder<float>("x", {3});
    const Tensor both = g.name("both", x + g.variable<float>("w", {3}, zeros()));
    g.name("train", minimize(g.name("loss", reduce_sum(both)), SGD{.learning_rate = -1.0}));
  }
};
TEST(GraphMode, EveryWatchedValueOfTheFailingRunIsReported) {
  using emulation::Order;
  constexpr float nan_value = std::numeric_limits<float>::quiet_NaN(), large = 3e38F;
  for (const float bad : {nan_value, large}) {
    for (const Order order : {Order::forward, Order::backward, Order::shuffled}) {
      testing::RecordingSink sink;
      const auto device = std::make_shared<SoftwareDevice>(3, order);
      using Executor = cuda::Executor<SoftwareDevice, Pair>;
      MonitoredSession session{Executor(device, {.mode = CudaMode::graph, .steps_per_launch = 2}),
                               HookChain{NanTensor<"loss", "both">{.fail_on_nan = false, .sink = sink}}};
      for (int step = 1; !session.should_stop(); ++step) {
        session.run("train"_n, feed<"x">(std::vector<float>(3, step == 3 ? bad : 1)));
      }
      session.close();
      const std::string loss = "crochet: loss is " + std::string(bad == large ? "infinite" : "NaN");
      const std::string both = "crochet: both has 3 NaN and 0 infinite of 3 elements, the first at 0";
      const std::string behind = " at step 3; stopping\n";
      EXPECT_EQ(sink.text(), loss + behind + (bad == large ? "" : both + behind)) << static_cast<int>(order);
      EXPECT_EQ(session.step(), 3);
    }
  }
}

}  // namespace graph_mode_test
}  // namespace crochet
