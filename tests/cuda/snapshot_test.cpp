// SPDX-License-Identifier: Apache-2.0
// Checkpoints while the loop goes on: the device copies the variables in the order of the launches, another thread
// waits for their way to the host.
#include <gtest/gtest.h>
#include <crochet/checkpoint/async_saver.hpp>
#include <crochet/crochet.hpp>
#include <crochet/executor/cpu.hpp>
#include <crochet/executor/cuda/executor.hpp>
#include <crochet/hooks.hpp>

#include <limits>
#include <string>
#include <vector>

#include "../checkpoint/directory.hpp"
#include "emulation/software_device.hpp"

namespace crochet {
namespace snapshot_test {

using namespace crochet::literals;
using emulation::SoftwareDevice;

/// Adds 1 to w in each step.
struct Counting {
  static constexpr void define(GraphBuilder& g) {
    const Tensor x = g.placeholder<float>("x", {3});
    const Tensor w = g.variable<float>("w", {3}, zeros());
    const Tensor loss = g.name("loss", reduce_sum(w + x));
    g.name("train", minimize(loss, SGD{.learning_rate = -1.0}));
  }
};
using Gpu = cuda::Executor<SoftwareDevice, Counting>;
using Train = Demand<Names<>, Names<Name<"train">>>;
const std::vector<float> nothing(3);

void run(Gpu& executor, Gpu::Workspace& workspace, int times) {
  for (int k = 0; k < times; ++k) executor.run<Train>(workspace, feed<"x">(nothing));
}
/// The elements of w and the step, when the snapshot has them.
struct Seen {
  std::span<const float> w;
  std::span<const std::int64_t> step;

  auto visitor() {
    return [this]<class T>(std::string_view, std::span<T> elements, std::span<const std::int64_t>) {
      if constexpr (std::is_same_v<T, const float>) w = elements;
      if constexpr (std::is_same_v<T, const std::int64_t>) step = elements;
    };
  }
};

TEST(Snapshot, HasTheVariablesOfItsStepAndTheLoopDoesNotWait) {
  for (const auto copies : {emulation::Copies::late, emulation::Copies::early}) {
    const auto device = std::make_shared<SoftwareDevice>(2);
    device->copies = copies;
    Gpu executor(device, {.steps_per_launch = 4});
    Gpu::Workspace workspace;
    executor.initialize();
    run(executor, workspace, 5);
    Seen seen;
    const auto snapshot = executor.snapshot_variables(seen.visitor());
    EXPECT_EQ(device->counters.launches, 2);
    run(executor, workspace, 4);
    EXPECT_EQ(device->counters.launches, 3);
    EXPECT_EQ(device->counters.waits, 0);
    EXPECT_EQ(device->counters.downloads, 0);
    snapshot->wait();
    EXPECT_EQ(device->counters.waits, 1);
    EXPECT_EQ(std::vector<float>(seen.w.begin(), seen.w.end()), std::vector<float>(3, 5));
    EXPECT_EQ(seen.step[0], 5);
    executor.close();
    EXPECT_EQ(seen.step[0], 5);
    EXPECT_EQ(executor.global_step(), 9);
  }
}

TEST(Snapshot, VariablesMayStillBeWrittenBehindIt) {
  const auto device = std::make_shared<SoftwareDevice>(1);
  Gpu e(device, {.steps_per_launch = 1});
  Gpu::Workspace workspace;
  e.initialize();
  const auto w = e.variable("w"_n);
  (void)e.snapshot_variables([](std::string_view, const auto&, const auto&) {});
  w[0] = 7;
  EXPECT_EQ(e.variable("w"_n)[0], 7);
  run(e, workspace, 1);
  EXPECT_EQ(e.variable("w"_n)[0], 8);
}

TEST(Snapshot, WithoutTheOrderOfStreamsItWouldBeWrong) {
  const auto device = std::make_shared<SoftwareDevice>(1);
  Gpu executor(device, {.steps_per_launch = 4});
  Gpu::Workspace workspace;
  executor.initialize();
  run(executor, workspace, 5);
  executor.close();
  device->ignores_orders = true;
  Seen seen;
  executor.snapshot_variables(seen.visitor())->wait();
  EXPECT_NE(seen.step[0], 5);
}

TEST(Snapshot, ReusesItsMemoryAndNeverThatOfAReader) {
  Gpu executor(std::make_shared<SoftwareDevice>(1), {.steps_per_launch = 4});
  Gpu::Workspace workspace;
  Seen seen;
  EXPECT_THROW(executor.snapshot_variables(seen.visitor()), UninitializedError);
  executor.initialize();
  const auto* const memory = executor.snapshot_variables(seen.visitor())->data();
  auto held = executor.snapshot_variables(seen.visitor());
  EXPECT_EQ(held->data(), memory);
  run(executor, workspace, 1);
  Seen second;
  const auto other = executor.snapshot_variables(second.visitor());
  EXPECT_NE(other->data(), memory);
  held->wait(), other->wait();
  EXPECT_EQ(seen.step[0], 0);
  EXPECT_EQ(second.step[0], 1);
}

TEST(Snapshot, AnAsyncSaverWaitsOnItsOwnThread) {
  const Directory directory;
  const auto device = std::make_shared<SoftwareDevice>(1);
  Gpu executor(device, {.steps_per_launch = 8});
  Saver<> saver(directory.path(), {.max_to_keep = 0});
  AsyncSaver in_background(saver);
  RawSession<Gpu> session(executor);
  executor.initialize();
  for (int k = 0; k < 3; ++k) {
    run(executor, session.hooked_workspace(), 5);
    in_background.save(session, executor.global_step());
  }
  in_background.wait();
  EXPECT_EQ(device->counters.waits, 0);
  EXPECT_GE(device->counters.waits_elsewhere, 3);
  EXPECT_EQ(device->counters.downloads, 0);
  for (const std::int64_t step : {5, 10, 15}) {
    saver.restore(session, saver.prefix_of(step));
    EXPECT_EQ(executor.global_step(), step);
    EXPECT_EQ(executor.variable("w"_n)[2], static_cast<float>(step));
  }
}

TEST(Snapshot, OfAFailedRunIsAnErrorOfTheWriter) {
  const Directory directory;
  const auto device = std::make_shared<SoftwareDevice>(1);
  MonitoredSession session{Gpu(device, {.steps_per_launch = 8}), HookChain{NanTensor<"loss">{}}};
  AsyncSaver in_background(Saver<>(directory.path()));
  for (int step = 1; step <= 3; ++step) {
    const float x = step == 2 ? std::numeric_limits<float>::quiet_NaN() : 0;
    session.run("train"_n, feed<"x">(std::vector<float>{0, x, 0}));
  }
  in_background.save(session.raw_session(), session.step());
  try {
    in_background.result();
    FAIL();
  } catch (const NanLossError& error) {
    EXPECT_STREQ(error.what(), "crochet: loss is not finite, so no checkpoint is made");
  }
  EXPECT_THROW(session.close(), NanLossError);  // the step that failed
}

}  // namespace snapshot_test
}  // namespace crochet
