// SPDX-License-Identifier: Apache-2.0
// Normalization and attention layers: whole models trained for a few steps on the CPU executor and on the Oracle, with
// moving averages and shared variables.
#include <crochet/executor/cpu.hpp>
#include <crochet/session/monitored_session.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "against_oracle.hpp"

namespace crochet {
namespace layers_test {

template <FixedString... S>
inline constexpr Names<Name<S>...> names{};

template <class T, bool Causal>
struct Encoder {
  static constexpr void define(GraphBuilder& g) {
    const Extent batch = g.dynamic("batch");
    const Tensor x = g.placeholder<T>("x", {batch, 9, 12}), y = g.placeholder<std::int32_t>("y", {batch, 9});
    const Tensor a = layer_norm(x + multi_head_self_attention(x, 3, "attention", {.causal = Causal}), "first");
    const Tensor f = dense(relu(dense(a, 20, "up")), 12, "down");
    const Tensor logits = g.name("logits", dense(rms_norm(a + f, "second"), 5, "logits"));
    const Tensor loss = g.name("loss", sparse_softmax_cross_entropy(logits, y));
    g.name("train", minimize(loss, Adam{.learning_rate = 1e-2}));
  }
};

template <class T, bool Causal>
void train_encoder(double tolerance) {
  for (int threads : {1, 2}) {
    AgainstOracle<Encoder<T, Causal>> both(threads, tolerance);
    for (std::int64_t batch : {3, 1, 4}) both.run(names<"loss", "logits">, names<"train">, {batch});
  }
}

TEST(Encoder, Trains) {
  train_encoder<double, false>(1e-9);
  train_encoder<double, true>(1e-9);
}

/// Sequences with padding: each is as long as its `lengths`.
template <bool Padded>
struct PaddedEncoder {
  static constexpr void define(GraphBuilder& g) {
    const Extent batch = g.dynamic("batch"), length = g.dynamic("length");
    const Tensor x = g.placeholder<double>("x", {batch, length, 12});
    const Tensor real = g.placeholder<std::int32_t>("real", {batch, length});
    const Tensor seen = not_equal(real, g.constant(0));
    const Tensor y = g.name("y", Padded ? multi_head_self_attention(x, 3, "attention", seen)
                                        : multi_head_self_attention(x, 3, "attention"));
    g.name("train", minimize(g.name("loss", reduce_mean(square(y))), SGD{0.1}));
  }
};

TEST(PaddedEncoder, OnTheExecutor) {
  for (int threads : {1, 2}) {
    AgainstOracle<PaddedEncoder<true>> both(threads, 1e-11);
    both.most = 2;
    both.run(names<"loss", "y">, names<"train">, {3, 5});
    both.run(names<"loss", "y">, names<"train">, {1, 7});
  }
}

TEST(PaddedEncoder, HasForEachSequenceWhatAloneItWouldHave) {
  const std::vector<double> x = [] {
    std::vector<double> all(std::size_t{2} * 5 * 12);
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = std::sin(static_cast<double>(i));
    return all;
  }();
  const std::vector<std::int32_t> real{1, 1, 1, 0, 0, 1, 1, 1, 1, 1};
  auto padded = Cpu{.threads = 1, .seed = 3}.compile<PaddedEncoder<true>>();
  auto plain = Cpu{.threads = 1, .seed = 3}.compile<PaddedEncoder<false>>();
  MonitoredSession with{padded};
  MonitoredSession without{plain};
  const auto [all] = with.run(fetches<"y">, feed<"x">(TensorView<const double, 3>{x.data(), {2, 5, 12}}),
                              feed<"real">(TensorView<const std::int32_t, 2>{real.data(), {2, 5}}));
  const auto [first] = without.run(fetches<"y">, feed<"x">(TensorView<const double, 3>{x.data(), {1, 3, 12}}));
  for (std::int64_t i = 0; i < 3; ++i)
    for (std::int64_t j = 0; j < 12; ++j) EXPECT_NEAR(all(0, i, j), first(0, i, j), 1e-12);
  with.close();
  without.close();
}

struct CrossAttention {
  static constexpr void define(GraphBuilder& g) {
    const Extent batch = g.dynamic("batch");
    const Tensor q = g.placeholder<double>("q", {batch, 2, 7, 5}), k = g.placeholder<double>("k", {batch, 2, 9, 5});
    const Tensor v = g.variable<double>("v", {2, 9, 3}, uniform(-1, 1));
    const Tensor hidden = g.placeholder<std::int32_t>("hidden", {batch, 1, 1, 9});
    const Tensor y = g.name("y", scaled_dot_product_attention(q, k, v, not_equal(hidden, g.constant(0))));
    const Tensor z = g.name("z", scaled_dot_product_attention(q, k, v, {.causal = true}));
    g.name("dv", gradient(reduce_sum(square(y)) + reduce_sum(square(z)), v));
  }
};

TEST(DotProductAttention, OnTheExecutor) {
  AgainstOracle<CrossAttention> both(2, 1e-11);
  both.most = 2;
  for (std::int64_t batch : {1, 3}) both.run_all({batch});
}

struct Normalized {
  static constexpr Tensor network(Tensor x, bool training) {
    const Tensor w = x.graph->variable<double>("hidden", {4, 6}, glorot_uniform());
    const Tensor h = relu(batch_norm(matmul(x, w), "norm", training, {.momentum = 0.9}));
    return dense(h, 3, "logits");
  }
  static constexpr void define(GraphBuilder& g) {
    const Extent batch = g.dynamic("batch");
    const Tensor x = g.placeholder<double>("x", {batch, 4});
    const Tensor y = g.placeholder<std::int32_t>("y", {batch});
    const Tensor loss = g.name("loss", sparse_softmax_cross_entropy(network(x, true), y));
    g.name("train", minimize(loss, SGD{0.1}));
    const SharedVariables same(g);
    g.name("evaluated", sparse_softmax_cross_entropy(network(x, false), y));
  }
};

using Mean = Name<"norm/moving_mean">;
using Variance = Name<"norm/moving_variance">;

TEST(BatchNorm, AveragesFollowTrainingAndNothingElse) {
  AgainstOracle<Normalized> both(2, 1e-10);
  both.most = 3;  // classes
  const auto mean = both.executor.variable(Mean{});
  const auto variance = both.executor.variable(Variance{});
  both.run(names<"loss", "evaluated">, names<>, {7});
  for (double m : mean) EXPECT_EQ(m, 0);
  for (double v : variance) EXPECT_EQ(v, 1);
  both.run(names<"loss">, names<"train">, {7});
  const std::vector<double> after(mean.begin(), mean.end());
  for (double m : after) EXPECT_NE(m, 0);
  both.run(names<"evaluated">, names<>, {3});
  EXPECT_TRUE(std::equal(after.begin(), after.end(), mean.begin()));
  both.run(names<"loss">, names<"train">, {1});  // a variance of one example is 0
  for (double v : variance) EXPECT_TRUE(std::isfinite(v)) << v;
}

// After enough steps on one batch the averages are that batch's mean and unbiased variance. Both networks then agree
// except for the bias of the variance.
struct Still {
  static constexpr void define(GraphBuilder& g) {
    const Tensor x = g.placeholder<double>("x", {4, 1}), w = g.variable<double>("w", {1}, ones());
    const Tensor y = g.name("y", batch_norm(x, "norm", true, {.momentum = 0.5, .epsilon = 0}));
    g.name("train", minimize(reduce_sum(y * w) * 0, SGD{0.1}));
    const SharedVariables same(g);
    g.name("still", batch_norm(x, "norm", false, {.epsilon = 0}));
  }
};

TEST(BatchNorm, AveragesApproachTheBatchs) {
  auto e = DeviceUnderTest{}.compile<Still>();
  e.initialize();
  decltype(e)::Workspace w;
  const std::vector<double> x{1, 2, 3, 6};
  const Feed<Name<"x">, std::vector<double>> feed{x};
  for (int i = 0; i < 60; ++i) e.run<Demand<Names<>, Names<Name<"train">>>>(w, feed);
  e.run<Demand<Names<Name<"y">, Name<"still">>, Names<>>>(w, feed);
  EXPECT_NEAR(e.variable(Mean{})[0], 3, 1e-12);
  EXPECT_NEAR(e.variable(Variance{})[0], 14.0 / 3, 1e-12);
  EXPECT_NEAR(e.fetch<Name<"y">>(w).data()[3], 3 / std::sqrt(3.5), 1e-12);
  EXPECT_NEAR(e.fetch<Name<"still">>(w).data()[3], 3 / std::sqrt(14.0 / 3), 1e-12);
}

TEST(SharedVariables, AreTheOnesThatAreThere) {
  GraphBuilder g;
  const Tensor x = g.placeholder<float>("x", {2, 3});
  dense(x, 5, "layer");
  EXPECT_THROW(dense(x, 5, "layer"), GraphError);
  {
    const SharedVariables same(g);
    const int before = g.size();
    dense(x, 5, "layer");
    EXPECT_EQ(g.size(), before + 2);  // the product and the sum
    dense(x, 4, "new");
    EXPECT_THROW(dense(x, 4, "layer"), GraphError);
  }
  EXPECT_THROW(dense(x, 4, "new"), GraphError);
}

}  // namespace layers_test
}  // namespace crochet
