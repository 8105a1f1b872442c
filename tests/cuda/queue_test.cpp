// SPDX-License-Identifier: Apache-2.0
// The executor on a device in software: what is launched, copied and waited for, as exact numbers, and that results do
// not depend on how runs are launched.
#include <gtest/gtest.h>
#include <crochet/crochet.hpp>
#include <crochet/executor/cpu.hpp>
#include <crochet/executor/cuda/executor.hpp>
#include <crochet/hooks.hpp>
#include <crochet/testing/manual_clock.hpp>
#include <crochet/testing/recording_sink.hpp>

#include <cmath>
#include <limits>
#include <vector>

#include "emulation/software_device.hpp"

namespace crochet {
namespace queue_test {

using namespace crochet::literals;
using emulation::SoftwareDevice;

struct Mlp {
  static constexpr void define(GraphBuilder& g) {
    const Extent batch = g.dynamic("batch");
    const Tensor x = g.placeholder<float>("x", {batch, 19}), labels = g.placeholder<std::int32_t>("labels", {batch});
    const Tensor logits = g.name("logits", dense(relu(dense(x, 33, "hidden")), 5, "out"));
    const Tensor loss = g.name("loss", sparse_softmax_cross_entropy(logits, labels));
    g.name("train", minimize(loss, Adam{.learning_rate = 1e-2}));
  }
};
using Gpu = cuda::Executor<SoftwareDevice, Mlp>;
using Train = Demand<Names<>, Names<Name<"train">>>;

/// The feeds of a step.
struct Batch {
  std::vector<float> x;
  std::vector<std::int32_t> labels;

  explicit Batch(int step, std::size_t size = 7) : x(size * 19), labels(size) {
    for (std::size_t k = 0; k < x.size(); ++k) x[k] = std::sin(static_cast<float>(k) + 3 * static_cast<float>(step));
    for (std::size_t k = 0; k < size; ++k)
      labels[k] = static_cast<std::int32_t>((k + static_cast<std::size_t>(step)) % 5);
  }
};

template <class D, class E>
void run(E& executor, typename E::Workspace& workspace, int step, std::size_t size = 7) {
  const Batch batch(step, size);
  executor.template run<D>(workspace, feed<"x">(batch.x), feed<"labels">(batch.labels));
}
template <class E>
std::vector<float> floats_of(E& executor) {
  std::vector<float> all;
  executor.for_each_variable([&]<class T>(std::string_view, std::span<T> values, std::span<const std::int64_t>) {
    if constexpr (std::is_same_v<T, float>) all.insert(all.end(), values.begin(), values.end());
  });
  return all;
}

/// The variables after 25 steps.
std::vector<float> trained(std::shared_ptr<SoftwareDevice> device, int steps_per_launch) {
  Gpu executor(std::move(device), {.steps_per_launch = steps_per_launch});
  Gpu::Workspace workspace;
  executor.initialize();
  for (int step = 0; step < 25; ++step) run<Train>(executor, workspace, step);
  return floats_of(executor);
}

TEST(Queue, ResultsAreTheSameBitsHoweverRunsAreLaunched) {
  const std::vector<float> expected = trained(std::make_shared<SoftwareDevice>(1), 1);
  for (const int steps : {2, 7, 32}) EXPECT_EQ(trained(std::make_shared<SoftwareDevice>(1), steps), expected);
  for (const int blocks : {2, 3, 5}) EXPECT_EQ(trained(std::make_shared<SoftwareDevice>(blocks), 32), expected);
  for (const auto order : {emulation::Order::backward, emulation::Order::shuffled}) {
    EXPECT_EQ(trained(std::make_shared<SoftwareDevice>(2, order), 8), expected);
  }
  const auto early = std::make_shared<SoftwareDevice>(2);
  early->copies = emulation::Copies::early;
  EXPECT_EQ(trained(early, 4), expected);
}

/// As trained(), in launches of four steps; `spoil` is called when each slot of the ring has been used.
template <class Spoil>
std::vector<float> trained_and_spoilt(Spoil spoil) {
  const auto device = std::make_shared<SoftwareDevice>(1);
  Gpu executor(device, {.steps_per_launch = 4});
  Gpu::Workspace workspace;
  executor.initialize();
  for (int step = 0; step < 25; ++step) {
    if (step == 12) spoil(*device);
    run<Train>(executor, workspace, step);
  }
  return floats_of(executor);
}
TEST(Queue, AMissingEventOrWaitGivesAWrongResult) {
  const std::vector<float> expected = trained_and_spoilt([](SoftwareDevice&) {});
  EXPECT_NE(trained_and_spoilt([](SoftwareDevice& device) { device.ignores_orders = true; }), expected);
  for (const auto copies : {emulation::Copies::late, emulation::Copies::early}) {
    EXPECT_NE(trained_and_spoilt([copies](SoftwareDevice& device) {
                device.copies = copies;
                device.ignores_waits = true;
              }),
              expected);
  }
}

TEST(Queue, TheHostWaitsOnlyWhenTheRingIsFull) {
  const auto device = std::make_shared<SoftwareDevice>();
  Gpu executor(device, {.steps_per_launch = 2});
  Gpu::Workspace workspace;
  executor.initialize();
  const auto run_some = [&](int steps) {
    for (int step = 0; step < steps; ++step) run<Train>(executor, workspace, step);
  };
  run_some(6);
  EXPECT_EQ(device->counters.launches, 3);
  EXPECT_EQ(device->counters.waits, 0);
  EXPECT_EQ(device->counters.orders, 3);   // the stream of launches waits for each copy of feeds
  EXPECT_EQ(device->counters.uploads, 5);  // the variables, the tables of the plan, the feeds of each launch
  run_some(1);                             // the feeds of the fourth launch take the place of the first one's
  EXPECT_EQ(device->counters.waits, 1);
  run_some(5);
  EXPECT_EQ(device->counters.launches, 6);
  EXPECT_EQ(device->counters.waits, 3);
  EXPECT_EQ(device->counters.uploads, 8);
}

TEST(Queue, ResultsAreTheCpusAfter25Steps) {
  auto cpu = Cpu{.threads = 1}.compile<Mlp>();
  decltype(cpu)::Workspace workspace;
  cpu.initialize();
  for (int step = 0; step < 25; ++step) run<Train>(cpu, workspace, step);
  const std::vector<float> expected = floats_of(cpu), given = trained(std::make_shared<SoftwareDevice>(2), 32);
  ASSERT_EQ(given.size(), expected.size());
  for (std::size_t k = 0; k < given.size(); ++k) EXPECT_NEAR(given[k], expected[k], 1e-4) << k;
}

TEST(Queue, IsLaunchedWhenItIsFullAndAtTheEnd) {
  const auto device = std::make_shared<SoftwareDevice>();
  Gpu executor(device, {.steps_per_launch = 10});
  Gpu::Workspace workspace;
  executor.initialize();
  for (int step = 0; step < 25; ++step) run<Train>(executor, workspace, step);
  EXPECT_EQ(device->counters.launches, 2);
  EXPECT_EQ(device->counters.runs, 20);
  EXPECT_EQ(device->counters.waits, 0);
  executor.close();
  EXPECT_EQ(device->counters.launches, 3);
  EXPECT_EQ(device->counters.runs, 25);
  EXPECT_EQ(device->counters.waits, 1);
  EXPECT_EQ(device->counters.downloads, 0);
}

TEST(Queue, IsLaunchedByTheNextRunWhenItIsOld) {
  const auto device = std::make_shared<SoftwareDevice>();
  testing::ManualClock clock;
  Gpu executor(device, {.queue_seconds = 0.002, .clock = clock});
  Gpu::Workspace workspace;
  executor.initialize();
  run<Train>(executor, workspace, 0);
  clock.advance(0.0015);
  run<Train>(executor, workspace, 1);
  EXPECT_EQ(device->counters.launches, 0);
  clock.advance(0.0005);
  run<Train>(executor, workspace, 2);
  EXPECT_EQ(device->counters.launches, 1);
  EXPECT_EQ(device->counters.runs, 3);
  run<Train>(executor, workspace, 3);  // a new queue, of age 0
  EXPECT_EQ(device->counters.launches, 1);
}

TEST(Queue, IsLaunchedWhenTheDemandOrTheSizeChanges) {
  const auto device = std::make_shared<SoftwareDevice>();
  Gpu executor(device);
  Gpu::Workspace workspace, other;
  executor.initialize();
  run<Train>(executor, workspace, 0);
  run<Train>(executor, workspace, 1);
  run<Train>(executor, workspace, 2, 4);  // another size
  EXPECT_EQ(device->counters.launches, 1);
  run<Train>(executor, other, 3, 4);  // another workspace
  EXPECT_EQ(device->counters.launches, 2);
  run<Demand<Names<Name<"loss">>, Names<>>>(executor, other, 4, 4);
  EXPECT_EQ(device->counters.launches, 3);
  executor.flush();
  EXPECT_EQ(device->counters.launches, 4);
  EXPECT_EQ(device->counters.runs, 5);
}

TEST(Queue, AValueIsCopiedOnceAndOnlyWhenItIsRead) {
  const auto device = std::make_shared<SoftwareDevice>();
  Gpu executor(device);
  Gpu::Workspace workspace;
  executor.initialize();
  using Both = Demand<Names<Name<"loss">, Name<"logits">>, Names<Name<"train">>>;
  for (int step = 0; step < 6; ++step) run<Both>(executor, workspace, step);
  EXPECT_EQ(device->counters.downloads, 0);
  const float loss = executor.fetch<Name<"loss">>(workspace);
  EXPECT_EQ(device->counters.downloads, 1);
  EXPECT_EQ(device->counters.waits, 1);
  EXPECT_EQ(executor.fetch<Name<"loss">>(workspace), loss);
  EXPECT_EQ(device->counters.downloads, 1);
  EXPECT_EQ(device->counters.launches, 1);

  auto cpu = Cpu{.threads = 1}.compile<Mlp>();
  decltype(cpu)::Workspace on_cpu;
  cpu.initialize();
  for (int step = 0; step < 6; ++step) run<Both>(cpu, on_cpu, step);
  EXPECT_NEAR(loss, cpu.fetch<Name<"loss">>(on_cpu), 1e-5);
}

TEST(Queue, TheGlobalStepIsReadWithoutWaiting) {
  const auto device = std::make_shared<SoftwareDevice>();
  Gpu executor(device);
  Gpu::Workspace workspace;
  executor.initialize();
  EXPECT_EQ(executor.global_step(), 0);
  using Counted = Demand<Names<Name<"global_step">>, Names<Name<"train">>>;
  for (int step = 0; step < 5; ++step) {
    run<Counted>(executor, workspace, step);
    EXPECT_EQ(executor.fetch<Name<"global_step">>(workspace), step + 1);
    EXPECT_EQ(executor.global_step(), step + 1);
  }
  EXPECT_EQ(device->counters.launches, 0);
  EXPECT_EQ(device->counters.waits, 0);
  EXPECT_EQ(executor.variable(Name<"global_step">{})[0], 5);  // the device's own count
  const auto step = executor.variable(Name<"global_step">{});
  step[0] = 30;
  EXPECT_EQ(executor.global_step(), 30);
  step[0] = 40;
  EXPECT_EQ(executor.global_step(), 40);
  run<Counted>(executor, workspace, 5);
  EXPECT_EQ(executor.global_step(), 41);
}

TEST(Queue, VariablesThatAreWrittenAreUsedByTheNextRun) {
  const auto device = std::make_shared<SoftwareDevice>();
  Gpu executor(device);
  Gpu::Workspace workspace;
  executor.initialize();
  run<Train>(executor, workspace, 0);
  const auto bias = executor.variable(Name<"out/bias">{});
  for (float& b : bias) b = 3;
  using Logits = Demand<Names<Name<"logits">>, Names<>>;
  run<Logits>(executor, workspace, 1);
  const auto with = executor.fetch<Name<"logits">>(workspace);
  const std::vector<float> high(with.begin(), with.end());
  for (float& b : executor.variable(Name<"out/bias">{})) b = 1;
  run<Logits>(executor, workspace, 1);
  const auto low = executor.fetch<Name<"logits">>(workspace);
  for (std::size_t k = 0; k < high.size(); ++k) EXPECT_NEAR(high[k], low.data()[k] + 2, 1e-5);
}

TEST(Queue, FeedsMayBeOverwrittenWhenRunReturns) {
  const auto device = std::make_shared<SoftwareDevice>();
  Gpu executor(device, {.steps_per_launch = 3});
  Gpu::Workspace workspace;
  executor.initialize();
  Batch batch(0);
  for (int step = 0; step < 25; ++step) {
    batch = Batch(step);
    executor.run<Train>(workspace, feed<"x">(batch.x), feed<"labels">(batch.labels));
    std::fill(batch.x.begin(), batch.x.end(), NAN);
  }
  EXPECT_EQ(floats_of(executor), trained(std::make_shared<SoftwareDevice>(1), 1));
}

/// Placeholders with more names, in another order.
struct Renamed {
  static constexpr void define(GraphBuilder& g) {
    const Tensor a = g.placeholder<float>("a", {3}), b = g.placeholder<float>("b", {3});
    g.name("b too", b);
    g.name("a too", a);
    g.name("y", a - b * 2);
  }
};
TEST(Queue, FeedsGoToTheirPlaceholders) {
  cuda::Executor<SoftwareDevice, Renamed> executor(std::make_shared<SoftwareDevice>());
  decltype(executor)::Workspace workspace;
  const std::vector<float> a{1, 2, 3}, b{10, 20, 30};
  executor.run<Demand<Names<Name<"y">>, Names<>>>(workspace, feed<"b">(b), feed<"a">(a));
  const auto y = executor.fetch<Name<"y">>(workspace);
  for (std::size_t k = 0; k < 3; ++k) EXPECT_EQ(y.data()[k], a[k] - 2 * b[k]);
}

/// A model of which a run has no feeds, only the addresses of its memory.
struct Counting {
  static constexpr void define(GraphBuilder& g) {
    g.name("train", minimize(g.variable<float>("w", {}, ones()), SGD{.learning_rate = 1.0}));
  }
};
TEST(Queue, RunsThatAreNotLaunchedDoNotCount) {
  const auto device = std::make_shared<SoftwareDevice>(1);
  Gpu e(device, {.steps_per_launch = 4});
  Gpu::Workspace workspace;
  e.initialize();
  for (int step = 0; step < 3; ++step) run<Train>(e, workspace, step);
  device->on_allocate = [](std::string_view purpose) {
    if (purpose == "the variables of a model") throw DeviceMemoryError("crochet: no memory");
  };
  EXPECT_THROW(run<Train>(e, workspace, 3), DeviceMemoryError);
  device->on_allocate = [](std::string_view) {};
  EXPECT_EQ(e.global_step(), 0);
  EXPECT_EQ(e.variable("global_step"_n)[0], 0);
}

TEST(Queue, TheMemoryOfALaunchHasALimit) {
  constexpr std::size_t limit = std::size_t{64} << 20, ring = 3;
  const auto device = std::make_shared<SoftwareDevice>(1);
  Gpu executor(device, {.steps_per_launch = std::numeric_limits<int>::max()});
  Gpu::Workspace workspace;
  executor.initialize();
  run<Train>(executor, workspace, 0);
  EXPECT_LT(executor.workspace_bytes(workspace), ring * limit);
  cuda::Executor<SoftwareDevice, Counting> without(device, {.steps_per_launch = std::numeric_limits<int>::max()});
  decltype(without)::Workspace of_addresses;
  without.initialize();
  without.run<Train>(of_addresses);
  EXPECT_LT(without.workspace_bytes(of_addresses), ring * limit);
  EXPECT_EQ(without.variable(Name<"w">{})[0], 0.0F);
}
TEST(Queue, OptionsWithoutAMeaningAreErrors) {
  const auto device = std::make_shared<SoftwareDevice>(1);
  for (const int steps : {0, -1, std::numeric_limits<int>::min()}) {
    EXPECT_THROW(Gpu(device, {.steps_per_launch = steps}), LogicError);
  }
  for (const double seconds : {-1.0, std::numeric_limits<double>::quiet_NaN()}) {
    EXPECT_THROW(Gpu(device, {.queue_seconds = seconds}), LogicError);
  }
}

TEST(Queue, ErrorsOfARunAreThoseOfTheCpu) {
  const auto device = std::make_shared<SoftwareDevice>();
  Gpu executor(device);
  Gpu::Workspace workspace;
  EXPECT_THROW(run<Train>(executor, workspace, 0), UninitializedError);
  executor.initialize();
  const Batch batch(0);
  const std::vector<std::int32_t> few(3);
  EXPECT_THROW(executor.run<Train>(workspace, feed<"x">(batch.x), feed<"labels">(few)), ShapeError);
  EXPECT_THROW(run<Train>(executor, workspace, 0, 0), ShapeError);  // a mean over nothing
  run<Train>(executor, workspace, 0);
  executor.close();
  EXPECT_EQ(device->counters.runs, 1);
}

/// What the device does in a session of 12 steps with these hooks, from the first step on.
template <class... H>
emulation::Counters counted(H... hooks) {
  const auto device = std::make_shared<SoftwareDevice>();
  MonitoredSession session{Gpu(device), HookChain{StopAtStep{.last_step = 12}, std::move(hooks)...}};
  device->counters = {};
  run_session(session, [](auto& s) {
    for (int step = 0; !s.should_stop(); ++step) {
      const Batch batch(step);
      s.run("train"_n, feed<"x">(batch.x), feed<"labels">(batch.labels));
    }
  });
  return device->counters;
}

/// Reads the loss of every run.
struct Reader {
  static constexpr auto fetches = crochet::fetches<"loss">;
  float last = 0;
  void after_run(auto&, const auto& values) { last = values["loss"_n]; }
};
/// Requests the loss of every run and does not read it.
struct Watcher {
  static constexpr auto fetches = crochet::fetches<"loss">;
  void after_run(auto&, const auto&) {}
};

TEST(SessionOnADevice, WithoutReadersLaunchesOnceAndWaitsAtTheEnd) {
  const emulation::Counters c = counted();
  EXPECT_EQ(c.launches, 1);
  EXPECT_EQ(c.runs, 12);
  EXPECT_EQ(c.waits, 1);
  EXPECT_EQ(c.downloads, 0);
}
TEST(SessionOnADevice, ARequestThatIsNotReadCostsNoCopy) {
  const emulation::Counters c = counted(Watcher{});
  EXPECT_EQ(c.launches, 1);
  EXPECT_EQ(c.downloads, 0);
}
TEST(SessionOnADevice, AReaderOfEveryRunWaitsForEveryRun) {
  const emulation::Counters c = counted(Reader{});
  EXPECT_EQ(c.launches, 12);
  EXPECT_EQ(c.downloads, 12);
}
TEST(SessionOnADevice, ALineEveryFourStepsIsAWaitInFourSteps) {
  testing::RecordingSink sink;
  const emulation::Counters c = counted(LoggingTensor<"loss">{.every_steps = 4, .sink = sink});
  EXPECT_EQ(c.downloads, 3);
  EXPECT_EQ(c.runs, 12);
}

}  // namespace queue_test
}  // namespace crochet
