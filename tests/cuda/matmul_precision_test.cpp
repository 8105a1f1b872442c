// SPDX-License-Identifier: Apache-2.0
// A network trains in each precision of products to about the same loss. Variables and results stay floats.
#include <gtest/gtest.h>
#include <crochet/crochet.hpp>
#include <crochet/executor/cuda/executor.hpp>

#include <cmath>
#include <memory>
#include <vector>

#include "emulation/software_device.hpp"

namespace crochet {
namespace matmul_precision_test {

using namespace crochet::literals;

struct Mlp {
  static constexpr void define(GraphBuilder& g) {
    const Extent batch = g.dynamic("batch");
    const Tensor x = g.placeholder<float>("x", {batch, 12}), y = g.placeholder<float>("y", {batch, 3});
    const Tensor loss = g.name("loss", reduce_mean(square(dense(tanh(dense(x, 20, "hidden")), 3, "out") - y)));
    g.name("train", minimize(loss, Adam{.learning_rate = 3e-2}));
  }
};

/// The losses of the first and the last step, and a weight.
struct Trained {
  float first = 0, last = 0, weight = 0;
};
template <MatmulPrecision P>
Trained trained() {
  using Device = emulation::SoftwareDeviceOf<P>;
  constexpr std::size_t batch = 10;
  cuda::Executor<Device, Mlp> executor(std::make_shared<Device>(2));
  typename decltype(executor)::Workspace workspace;
  executor.initialize();
  std::vector<float> x(batch * 12), y(batch * 3);
  for (std::size_t k = 0; k < x.size(); ++k) x[k] = std::sin(static_cast<float>(k) * 0.37F);
  for (std::size_t k = 0; k < y.size(); ++k) y[k] = std::cos(static_cast<float>(k));
  Trained result;
  for (int step = 0; step < 60; ++step) {
    executor.template run<Demand<Names<Name<"loss">>, Names<Name<"train">>>>(workspace, feed<"x">(x), feed<"y">(y));
    if (step == 0) result.first = executor.template fetch<Name<"loss">>(workspace);
  }
  result.last = executor.template fetch<Name<"loss">>(workspace);
  result.weight = executor.variable("hidden/kernel"_n)[0];
  return result;
}

TEST(MatmulPrecision, TrainsToTheLossOfFloats) {
  const Trained exact = trained<MatmulPrecision::fp32>(), tf32 = trained<MatmulPrecision::tf32>(),
                bf16 = trained<MatmulPrecision::bf16>();
  EXPECT_LT(exact.last, 0.3F * exact.first);
  EXPECT_NEAR(tf32.first, exact.first, 1e-3F * exact.first);
  EXPECT_NEAR(bf16.first, exact.first, 1e-2F * exact.first);
  EXPECT_NEAR(tf32.last, exact.last, 2e-3F * exact.first);
  EXPECT_NEAR(bf16.last, exact.last, 1e-2F * exact.first);
  EXPECT_NE(tf32.last, exact.last);
  EXPECT_NE(bf16.last, tf32.last);
  const auto bits = std::bit_cast<std::uint32_t>(bf16.weight);
  EXPECT_NE(bits & 0xffffU, 0U) << "a weight is a float, not a rounded one";
}

}  // namespace matmul_precision_test
}  // namespace crochet
