// SPDX-License-Identifier: Apache-2.0
// The demo's network, trained on a device in software for 60 steps: it recognizes most test images.
#include <gtest/gtest.h>
#include <crochet/crochet.hpp>
#include <crochet/data.hpp>
#include <crochet/executor/cuda/executor.hpp>
#include <crochet/hooks.hpp>

#include <filesystem>
#include <memory>

#include "../../examples/fashion_mnist/models.hpp"
#include "emulation/software_device.hpp"

namespace fashion_mnist_test {

namespace cr = crochet;
using namespace cr::literals;

TEST(FashionMnist, IsLearntOnADeviceInSoftware) {
  if (!std::filesystem::exists(cr::fashion_mnist_folder)) GTEST_SKIP() << "there is no data set here";
  const auto device = std::make_shared<emulation::SoftwareDevice>(2, emulation::Order::shuffled);
  cr::cuda::Executor<emulation::SoftwareDevice, demo::Mlp> executor(device, {.seed = 1});
  cr::MonitoredSession session{std::move(executor), cr::HookChain{cr::StopAtStep{.last_step = 60}}};
  cr::Batches training = cr::fashion_mnist("train").batch(32).shuffle(1).repeat();
  while (!session.should_stop()) {
    const cr::Batch batch = training.next();
    session.run("train"_n, cr::feed<"images">(batch.images), cr::feed<"labels">(batch.labels));
  }
  EXPECT_EQ(device->counters.launches, 1) << "32 runs; the others follow when a value is read";
  cr::Batches tests = cr::fashion_mnist("test").batch(500);
  const cr::Batch batch = tests.next();
  const auto [accuracy] = session.run(cr::no_hooks, cr::fetches<"accuracy">, cr::feed<"images">(batch.images),
                                      cr::feed<"labels">(batch.labels));
  EXPECT_GT(accuracy, 0.65F);
  std::printf("test accuracy %.3f after 60 steps\n", accuracy);
  session.close();
}

}  // namespace fashion_mnist_test
