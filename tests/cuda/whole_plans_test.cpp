// SPDX-License-Identifier: Apache-2.0
// Whole models after 25 steps: the CUDA executor on a device in software, or on a GPU, and the CPU executor have the
// same variables, and the bits do not depend on how many runs a launch has.
#include <gtest/gtest.h>
#include <crochet/crochet.hpp>
#include <crochet/executor/cpu.hpp>
#include <crochet/executor/cuda/executor.hpp>

#include <cmath>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

#include "../executor/device_under_test.hpp"

namespace crochet {
namespace whole_plans_test {

using namespace crochet::literals;

/// The input of all models: rows of 16 features, and a class of 3.
struct Input {
  Extent batch;
  Tensor x, labels;
};
template <class T>
constexpr Input input_of(GraphBuilder& g) {
  const Extent batch = g.dynamic("batch");
  return {batch, g.placeholder<T>("x", {batch, 16}), g.placeholder<std::int32_t>("labels", {batch})};
}
constexpr Tensor loss_of(GraphBuilder& g, Tensor logits, const Input& in) {
  return g.name("loss", sparse_softmax_cross_entropy(logits, in.labels));
}

struct Mlp {
  using Element = float;
  static constexpr double tolerance = 1e-4;
  static constexpr void define(GraphBuilder& g) {
    const Input in = input_of<float>(g);
    g.name("train", minimize(loss_of(g, dense(relu(dense(in.x, 33, "hidden")), 3, "out"), in), Adam{}));
  }
};
struct MlpInDouble {
  using Element = double;
  static constexpr double tolerance = 1e-10;
  static constexpr void define(GraphBuilder& g) {
    const Input in = input_of<double>(g);
    g.name("train", minimize(loss_of(g, dense(tanh(dense(in.x, 11, "hidden")), 3, "out"), in), Adam{}));
  }
};
struct CnnWithBatchNorm {
  using Element = double;
  static constexpr double tolerance = 1e-9;
  static constexpr void define(GraphBuilder& g) {
    const Input in = input_of<double>(g);
    Tensor x = conv2d(reshape(in.x, {in.batch, 4, 4, 1}), 5, {3, 3}, "conv1");
    x = relu(batch_norm(x, "norm", true));
    x = max_pool(x, 2);
    g.name("train", minimize(loss_of(g, dense(flatten(x), 3, "out"), in), Momentum{.learning_rate = 0.05}));
  }
};
struct Transformer {
  using Element = double;
  static constexpr double tolerance = 1e-9;
  static constexpr void define(GraphBuilder& g) {
    const Input in = input_of<double>(g);
    Tensor x = reshape(in.x, {in.batch, 4, 4});
    x = x + multi_head_self_attention(layer_norm(x, "norm"), 2, "attention", {.causal = true});
    x = x + dense(gelu(dense(x, 8, "up")), 4, "down");
    g.name("train", minimize(loss_of(g, dense(reshape(x, {in.batch, 16}), 3, "out"), in), AdamW{}));
  }
};
struct Dropout {
  using Element = float;
  static constexpr double tolerance = 1e-4;
  static constexpr void define(GraphBuilder& g) {
    const Input in = input_of<float>(g);
    const Tensor h = dropout(relu(dense(in.x, 21, "hidden")), 0.4);
    g.name("train", minimize(loss_of(g, dense(h, 3, "out"), in), SGD{.learning_rate = 0.1}));
  }
};
/// Three runs are one update, with clipped gradients and a rate that depends on the step.
struct AccumulatedClippedAndScheduled {
  using Element = double;
  static constexpr double tolerance = 1e-9;
  static constexpr void define(GraphBuilder& g) {
    const Input in = input_of<double>(g);
    const Tensor loss = loss_of(g, dense(tanh(dense(in.x, 9, "hidden")), 3, "out"), in);
    const Adam optimizer{
        .learning_rate =
            LinearWarmup{.steps = 3, .then = ExponentialDecay{.initial = 0.05, .decay_steps = 2, .decay_rate = 0.5}}};
    g.name("train", minimize(loss, optimizer, {.clip = ClipByGlobalNorm{0.1}, .accumulate = {.steps = 3}}));
  }
};

/// All variables after 25 steps, and the step.
struct Trained {
  std::vector<double> variables;
  std::int64_t step = 0;
  friend bool operator==(const Trained&, const Trained&) = default;
};
template <class Model, class E>
Trained trained(E executor) {
  using T = typename Model::Element;
  constexpr std::size_t batch = 6;
  typename E::Workspace workspace;
  executor.initialize();
  for (int step = 0; step < 25; ++step) {
    std::vector<T> x(batch * 16);
    std::vector<std::int32_t> labels(batch);
    for (std::size_t k = 0; k < x.size(); ++k) {
      x[k] = std::sin(static_cast<T>(k) * T(0.7) + static_cast<T>(step));
    }
    for (std::size_t k = 0; k < batch; ++k)
      labels[k] = static_cast<std::int32_t>(k + static_cast<std::size_t>(step)) % 3;
    executor.template run<Demand<Names<>, Names<Name<"train">>>>(workspace, feed<"x">(x), feed<"labels">(labels));
  }
  Trained result{{}, executor.global_step()};
  executor.for_each_variable([&]<class X>(std::string_view, std::span<X> values, std::span<const std::int64_t>) {
    result.variables.insert(result.variables.end(), values.begin(), values.end());
  });
  return result;
}
template <class Model>
Trained on_device(int threads, int steps_per_launch) {
  return trained<Model>(
      cuda::Executor<TestedDevice, Model>(tested_device(threads), {.steps_per_launch = steps_per_launch}));
}

template <class Model>
class WholePlans : public ::testing::Test {};
using Models =
    ::testing::Types<Mlp, MlpInDouble, CnnWithBatchNorm, Transformer, Dropout, AccumulatedClippedAndScheduled>;
TYPED_TEST_SUITE(WholePlans, Models);

TYPED_TEST(WholePlans, AreTheCpusAfter25StepsAndTheSameBitsWithoutAQueue) {
  const Trained expected = trained<TypeParam>(Cpu{.threads = 1}.compile<TypeParam>());
  const Trained queued = on_device<TypeParam>(3, 32);
  const Trained alone = on_device<TypeParam>(2, 1);
  EXPECT_EQ(queued, alone);
  EXPECT_EQ(queued.step, expected.step);
  ASSERT_EQ(queued.variables.size(), expected.variables.size());
  for (std::size_t k = 0; k < expected.variables.size(); ++k) {
    EXPECT_NEAR(queued.variables[k], expected.variables[k], TypeParam::tolerance) << k;
  }
}

}  // namespace whole_plans_test
}  // namespace crochet
