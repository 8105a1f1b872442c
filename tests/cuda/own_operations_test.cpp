// SPDX-License-Identifier: Apache-2.0
// Operations of a user's program on the CUDA executor: fused into a loop with a reduction, and with a kernel of its
// own.
#include <gtest/gtest.h>
#include <crochet/crochet.hpp>
#include <crochet/executor/cuda/executor.hpp>

#include <memory>
#include <vector>

#include "emulation/software_device.hpp"
#include "own_operations.hpp"

namespace own_operations_test {

using namespace crochet::literals;
using emulation::Order;
using emulation::SoftwareDevice;

TEST(OwnOperations, TrainInEveryOrderOfThreads) {
  constexpr int updates = 3;
  const own::Expected expected(updates);
  const std::vector<float> x = own::input();
  for (const Order order : {Order::forward, Order::backward, Order::shuffled}) {
    auto device = std::make_shared<SoftwareDevice>(2, order);
    crochet::MonitoredSession session{crochet::cuda::Executor<SoftwareDevice, own::Model>(device),
                                      crochet::HookChain{}};
    for (int i = 0; i < updates; ++i) {
      const auto [loss] = session.run(crochet::fetches<"loss">, "train"_n, crochet::feed<"x">(x));
      EXPECT_NEAR(loss, expected.losses[static_cast<std::size_t>(i)], 1e-5);
    }
    const auto w = session.executor().variable("w"_n);
    for (std::size_t t = 0; t < own::steps; ++t) EXPECT_NEAR(w[t], expected.w[t], 1e-5) << t;
    session.close();
  }
}

}  // namespace own_operations_test
