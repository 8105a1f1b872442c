// SPDX-License-Identifier: Apache-2.0
// Cuda on this machine: an error that names the cause where there is no GPU, else a training that agrees with the
// CPU's.
#include <gtest/gtest.h>
#include <crochet/crochet.hpp>
#include <crochet/executor/cpu.hpp>
#include <crochet/executor/cuda.hpp>
#include <crochet/executor/cuda/nvrtc.hpp>
#include <crochet/hooks.hpp>

#include <cmath>
#include <numeric>
#include <optional>
#include <vector>

namespace crochet {
namespace device_test {

using namespace crochet::literals;

struct Line {
  static constexpr void define(GraphBuilder& g) {
    const Extent batch = g.dynamic("batch");
    const Tensor x = g.placeholder<float>("x", {batch, 19}), y = g.placeholder<float>("y", {batch, 3});
    const Tensor loss = g.name("loss", reduce_mean(square(dense(tanh(dense(x, 33, "hidden")), 3, "out") - y)));
    g.name("train", minimize(loss, Adam{.learning_rate = 1e-2}));
  }
};

/// The reason why there is no GPU to run on; empty if there is one.
std::string why_not() {
  try {
    cuda::GpuDevice device;
    return {};
  } catch (const DeviceError& error) {
    return error.what();
  }
}

template <class E>
float trained(E executor) {
  MonitoredSession session{std::move(executor), HookChain{StopAtStep{.last_step = 20}}};
  float loss = 0;
  std::vector<float> x(7 * 19), y(7 * 3);
  run_session(session, [&](auto& s) {
    for (int step = 0; !s.should_stop(); ++step) {
      for (std::size_t k = 0; k < x.size(); ++k) x[k] = std::sin(static_cast<float>(k) + static_cast<float>(step));
      for (std::size_t k = 0; k < y.size(); ++k) y[k] = std::cos(static_cast<float>(k));
      loss = s.run(fetches<"loss">, "train"_n, feed<"x">(x), feed<"y">(y))["loss"_n];
    }
  });
  return loss;
}

TEST(Cuda, WithoutAGpuIsAnErrorThatNamesTheCause) {
  const std::string reason = why_not();
  if (reason.empty()) GTEST_SKIP() << "this machine has a GPU";
  EXPECT_TRUE(reason.starts_with("crochet: ")) << reason;
  EXPECT_THROW((void)Cuda{}.compile<Line>(), DeviceError);
  if (reason.find("no NVIDIA driver") != std::string::npos) {
    EXPECT_NE(reason.find("Install the driver of the GPU, or use crochet::Cpu"), std::string::npos) << reason;
  }
}

TEST(Cuda, TrainsAsTheCpu) {
  if (const std::string reason = why_not(); !reason.empty()) GTEST_SKIP() << reason;
  if (!cuda::has_nvrtc()) GTEST_SKIP() << "there is no NVRTC here";
  EXPECT_NEAR(trained(Cuda{}.compile<Line>()), trained(Cpu{.threads = 1}.compile<Line>()), 1e-4);
}

/// The bias of the last layer after 20 steps, of which `feed_step(session, step)` feeds one.
template <class Step>
std::vector<float> bias_after(const Cuda& cuda, const Step& step) {
  MonitoredSession session{cuda.compile<Line>(), HookChain{NanTensor<"loss">{}, StopAtStep{.last_step = 20}}};
  run_session(session, [&](auto& s) {
    for (int k = 0; !s.should_stop(); ++k) step(s, k);
  });
  const auto bias = session.executor().variable("out/bias"_n);
  return {bias.begin(), bias.end()};
}
/// 30 rows of x and y.
struct Rows {
  std::vector<float> x = std::vector<float>(30 * 19), y = std::vector<float>(30 * 3);

  Rows() {
    for (std::size_t k = 0; k < x.size(); ++k) x[k] = std::sin(static_cast<float>(k));
    for (std::size_t k = 0; k < y.size(); ++k) y[k] = std::cos(static_cast<float>(k));
  }
  TensorView<float, 2> all_x() const { return {x.data(), {30, 19}}; }
  TensorView<float, 2> all_y() const { return {y.data(), {30, 3}}; }
  /// Seven rows from row `first` on.
  TensorView<float, 2> some_x(int first) const { return {x.data() + first * 19, {7, 19}}; }
  TensorView<float, 2> some_y(int first) const { return {y.data() + first * 3, {7, 3}}; }
};
TEST(Cuda, GivesTheSameBitsHoweverItIsFedAndLaunched) {
  if (const std::string reason = why_not(); !reason.empty()) GTEST_SKIP() << reason;
  if (!cuda::has_nvrtc()) GTEST_SKIP() << "there is no NVRTC here";
  const Rows rows;
  const auto from_the_host = [&](auto& s, int k) {
    s.run("train"_n, feed<"x">(rows.some_x(k)), feed<"y">(rows.some_y(k)));
  };
  const auto expected = bias_after(Cuda{.steps_per_launch = 1}, from_the_host);
  EXPECT_EQ(bias_after(Cuda{.steps_per_launch = 3}, from_the_host), expected);
  EXPECT_EQ(bias_after(Cuda{.steps_per_launch = 3, .mode = CudaMode::graph}, from_the_host), expected);
  const auto by_indices = [&](auto& s, int k) {
    const DeviceData x(s, rows.all_x()), y(s, rows.all_y());
    std::vector<std::int32_t> indices(7);
    std::iota(indices.begin(), indices.end(), k);
    s.run("train"_n, feed<"x">(x.rows(indices)), feed<"y">(y.rows(indices)));
  };
  EXPECT_EQ(bias_after(Cuda{}, by_indices), expected);
}

TEST(Cuda, NanTensorReportsTheStepThatFailed) {
  if (const std::string reason = why_not(); !reason.empty()) GTEST_SKIP() << reason;
  if (!cuda::has_nvrtc()) GTEST_SKIP() << "there is no NVRTC here";
  for (const CudaMode mode : {CudaMode::steps_per_launch, CudaMode::graph}) {
    Rows rows;
    rows.x[19 * 13] = NAN;  // in the last row of step 7, counted from 1
    try {
      bias_after(Cuda{.steps_per_launch = 4, .mode = mode}, [&](auto& s, int k) {
        s.run("train"_n, feed<"x">(rows.some_x(k + 1)), feed<"y">(rows.some_y(k + 1)));
      });
      ADD_FAILURE();
    } catch (const NanLossError& error) {
      EXPECT_STREQ(error.what(), "crochet: loss is NaN at step 7");
    }
  }
}

TEST(Cuda, ADeviceThatIsNotThereIsAnError) {
  if (const std::string reason = why_not(); !reason.empty()) GTEST_SKIP() << reason;
  EXPECT_THROW(cuda::GpuDevice(1000), DeviceError);
  EXPECT_THROW(cuda::GpuDevice(-1), DeviceError);
}

}  // namespace device_test
}  // namespace crochet
