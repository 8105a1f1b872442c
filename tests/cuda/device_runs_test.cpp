// SPDX-License-Identifier: Apache-2.0
// Queued runs on a device, in software or a GPU: results do not depend on how runs are launched, and feeds, sizes and
// values that change from run to run are those of the CPU executor. queue_test.cpp counts launches and copies.
#include <gtest/gtest.h>
#include <crochet/crochet.hpp>
#include <crochet/executor/cpu.hpp>
#include <crochet/executor/cuda/device_data.hpp>
#include <crochet/hooks.hpp>

#include <cmath>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

#include "../executor/device_under_test.hpp"

namespace crochet {
namespace device_runs_test {

using namespace crochet::literals;

struct Mlp {
  static constexpr void define(GraphBuilder& g) {
    const Extent batch = g.dynamic("batch");
    const Tensor x = g.placeholder<float>("x", {batch, 17}), labels = g.placeholder<std::int32_t>("labels", {batch});
    const Tensor logits = g.name("logits", dense(relu(dense(x, 35, "hidden")), 5, "out"));
    const Tensor loss = g.name("loss", sparse_softmax_cross_entropy(logits, labels));
    g.name("train", minimize(loss, SGD{.learning_rate = 0.1}));
  }
};
using OnDevice = cuda::Executor<TestedDevice, Mlp>;
using Train = Demand<Names<>, Names<Name<"train">>>;
using TrainAndLoss = Demand<Names<Name<"loss">>, Names<Name<"train">>>;
using Logits = Demand<Names<Name<"logits">>, Names<>>;

/// The feeds of a step, different in every step.
struct Batch {
  std::vector<float> x;
  std::vector<std::int32_t> labels;

  Batch(int step, std::size_t size) : x(size * 17), labels(size) {
    for (std::size_t k = 0; k < x.size(); ++k) x[k] = std::sin(static_cast<float>(k) + 3 * static_cast<float>(step));
    for (std::size_t k = 0; k < size; ++k) {
      labels[k] = static_cast<std::int32_t>((k + static_cast<std::size_t>(step)) % 5);
    }
  }
};

template <class E>
class Runner {
 public:
  explicit Runner(E executor) : executor_(std::move(executor)) { executor_.initialize(); }

  template <class D>
  void run(int step, std::size_t size = 6) {
    const Batch batch(step, size);
    executor_.template run<D>(workspace_, feed<"x">(batch.x), feed<"labels">(batch.labels));
  }
  void predict(int step, std::size_t size) {
    const Batch batch(step, size);
    executor_.template run<Logits>(workspace_, feed<"x">(batch.x));
  }
  float loss() { return executor_.template fetch<Name<"loss">>(workspace_); }
  std::vector<float> logits() {
    const auto view = executor_.template fetch<Name<"logits">>(workspace_);
    return {view.data(), view.data() + view.size()};
  }
  std::vector<float> variables() {
    std::vector<float> all;
    executor_.for_each_variable([&]<class T>(std::string_view, std::span<T> values, std::span<const std::int64_t>) {
      if constexpr (std::is_same_v<T, float>) all.insert(all.end(), values.begin(), values.end());
    });
    return all;
  }
  E& executor() { return executor_; }

 private:
  E executor_;
  typename E::Workspace workspace_;
};
Runner<OnDevice> on_device(int steps_per_launch, int threads = 2, CudaMode mode = CudaMode::steps_per_launch) {
  return Runner(OnDevice(tested_device(threads), {.mode = mode, .steps_per_launch = steps_per_launch}));
}
auto on_cpu() { return Runner(Cpu{.threads = 1}.compile<Mlp>()); }

void expect_near(const std::vector<float>& given, const std::vector<float>& expected) {
  ASSERT_EQ(given.size(), expected.size());
  for (std::size_t k = 0; k < given.size(); ++k) EXPECT_NEAR(given[k], expected[k], 1e-4) << k;
}

TEST(DeviceRuns, TheBitsDoNotDependOnTheRunsOfALaunch) {
  const auto trained = [](int steps_per_launch, int threads) {
    auto runner = on_device(steps_per_launch, threads);
    for (int step = 0; step < 40; ++step) runner.run<Train>(step);
    return runner.variables();
  };
  const std::vector<float> expected = trained(1, 1);
  EXPECT_NE(expected, on_device(1).variables()) << "nothing was trained";
  for (const int steps : {3, 32}) EXPECT_EQ(trained(steps, 2), expected) << steps;
}

TEST(DeviceRuns, GraphsGiveTheSameBits) {
  const auto trained = [](CudaMode mode) {
    auto runner = on_device(4, 2, mode);
    for (int step = 0; step < 13; ++step) runner.run<Train>(step, step < 7 ? 6 : 3);
    return runner.variables();
  };
  EXPECT_EQ(trained(CudaMode::graph), trained(CudaMode::steps_per_launch));
}

TEST(DeviceRuns, RowsOfADataSetOnTheDeviceGiveTheSameBits) {
  const Batch all(5, 30);
  const TensorView<float, 2> rows(all.x.data(), {30, 17});
  const auto indices_of = [](int step) {
    std::vector<std::int32_t> indices(6);
    for (std::size_t k = 0; k < 6; ++k) indices[k] = (7 * step + 11 * static_cast<std::int32_t>(k)) % 30;
    return indices;
  };
  const auto trained = [&](const auto& run) {
    auto runner = on_device(4);
    OnDevice::Workspace workspace;
    const DeviceData x(runner.executor(), rows);
    const DeviceData labels(runner.executor(), all.labels);
    for (int step = 0; step < 11; ++step) run(runner.executor(), workspace, x, labels, indices_of(step));
    return runner.variables();
  };
  const auto in_place = trained([](auto& e, auto& workspace, auto& x, auto& labels, const auto& indices) {
    e.template run<Train>(workspace, feed<"x">(x.rows(indices)), feed<"labels">(labels.rows(indices)));
  });
  const auto from_the_host = trained([&](auto& e, auto& workspace, auto&, auto&, const auto& indices) {
    Batch batch(0, 6);
    for (std::size_t k = 0; k < 6; ++k) {
      const auto row = static_cast<std::size_t>(indices[k]);
      for (std::size_t j = 0; j < 17; ++j) batch.x[k * 17 + j] = all.x[row * 17 + j];
      batch.labels[k] = all.labels[row];
    }
    e.template run<Train>(workspace, feed<"x">(batch.x), feed<"labels">(batch.labels));
  });
  EXPECT_EQ(in_place, from_the_host);
}

TEST(DeviceRuns, ALossThatIsNotFiniteIsFound) {
  MonitoredSession session{DeviceUnderTest{}.compile<Mlp>(), HookChain{NanTensor<"loss">{}}};
  const auto train = [](auto& s) {
    for (int step = 0; step < 80; ++step) {
      Batch batch(step, 6);
      if (step == 9) batch.labels[0] = -1;
      s.run("train"_n, feed<"x">(batch.x), feed<"labels">(batch.labels));
    }
  };
  EXPECT_THROW(run_session(session, train), NanLossError);
  EXPECT_EQ(session.executor().global_step(), 10) << "the runs behind it are skipped";
}

TEST(DeviceRuns, ThePinnedFeedsOfManyLaunchesAreNotMixed) {
  auto device = on_device(4);
  auto cpu = on_cpu();
  for (int step = 0; step < 30; ++step) {
    device.run<Train>(step);
    cpu.run<Train>(step);
  }
  expect_near(device.variables(), cpu.variables());
}

TEST(DeviceRuns, SizesAndDemandsMayChange) {
  auto device = on_device(32);
  auto cpu = on_cpu();
  for (int step = 0; step < 12; ++step) {
    const auto size = static_cast<std::size_t>(1 + step * 5 % 9);
    device.run<Train>(step, size);
    cpu.run<Train>(step, size);
    if (step % 3 != 0) continue;
    device.predict(step, size + 2);
    cpu.predict(step, size + 2);
    expect_near(device.logits(), cpu.logits());
  }
  expect_near(device.variables(), cpu.variables());
}

TEST(DeviceRuns, AValueIsThatOfTheLastRun) {
  auto device = on_device(32);
  auto cpu = on_cpu();
  for (int step = 0; step < 9; ++step) {
    device.run<TrainAndLoss>(step);
    cpu.run<TrainAndLoss>(step);
    if (step % 4 == 0) {
      EXPECT_NEAR(device.loss(), cpu.loss(), 1e-5) << step;
    }
  }
  EXPECT_NEAR(device.loss(), cpu.loss(), 1e-5);
  EXPECT_EQ(device.executor().global_step(), 9);
}

TEST(DeviceRuns, AVariableWrittenByTheHostIsReadByTheNextRun) {
  auto device = on_device(32);
  auto cpu = on_cpu();
  const auto both = [&](auto f) {
    f(device);
    f(cpu);
  };
  both([](auto& runner) {
    for (int step = 0; step < 3; ++step) runner.template run<Train>(step);
    for (float& bias : runner.executor().variable("out/bias"_n)) bias = 0.5F;
    runner.template run<Train>(3);
  });
  expect_near(device.variables(), cpu.variables());
}

TEST(DeviceRuns, ALabelOutOfRangeMakesTheLossNaNAndNothingElseFails) {
  auto device = on_device(32);
  Batch batch(0, 6);
  batch.labels[2] = 5;
  OnDevice::Workspace workspace;
  using Loss = Demand<Names<Name<"loss">>, Names<>>;
  device.executor().run<Loss>(workspace, feed<"x">(batch.x), feed<"labels">(batch.labels));
  EXPECT_TRUE(std::isnan(device.executor().fetch<Name<"loss">>(workspace)));
  device.run<TrainAndLoss>(1);
  EXPECT_TRUE(std::isfinite(device.loss()));
}

TEST(DeviceRuns, ASessionWithHooksThatReadNowAndThenTrainsAsOnTheCpu) {
  const auto losses = [](auto executor) {
    std::vector<float> seen;
    MonitoredSession session{std::move(executor), HookChain{StopAtStep{.last_step = 25}}};
    for (int step = 0; !session.should_stop(); ++step) {
      const Batch batch(step, 6);
      const auto [loss] =
          session.run(fetches<"loss">, targets<"train">, feed<"x">(batch.x), feed<"labels">(batch.labels));
      if (step % 10 == 9) seen.push_back(loss);
    }
    session.close();
    return seen;
  };
  const std::vector<float> expected = losses(Cpu{.threads = 1}.compile<Mlp>());
  EXPECT_EQ(expected.size(), 2U);
  expect_near(losses(DeviceUnderTest{}.compile<Mlp>()), expected);
}

}  // namespace device_runs_test
}  // namespace crochet
