// SPDX-License-Identifier: Apache-2.0
// Models trained for some steps on the CPU executor and on the Oracle: every variable, including the optimizers'
// moments, must agree after every step. The batch size changes.
#include "against_oracle.hpp"

namespace crochet {
namespace training_test {

using Train = Names<Name<"train">>;
using Loss = Names<Name<"loss">>;

template <class T>
struct Mlp {
  static constexpr void define(GraphBuilder& g) {
    const Extent batch = g.dynamic("batch");
    const Tensor x = g.placeholder<T>("x", {batch, 37}), labels = g.placeholder<std::int32_t>("labels", {batch});
    const Tensor h = relu(dense(x, 19, "hidden", he_normal()));
    const Tensor logits = g.name("logits", dense(h, 5, "out"));
    const Tensor loss = g.name("loss", sparse_softmax_cross_entropy(logits, labels));
    g.name("accuracy", reduce_mean(cast<T>(equal(argmax(logits), labels))));
    g.name("train", minimize(loss, Adam{.learning_rate = 1e-2}));
  }
};

template <class T>
void train_mlp(double tolerance) {
  for (int threads = 1; threads <= 3; ++threads) {
    SCOPED_TRACE(threads);
    AgainstOracle<Mlp<T>> both(threads, tolerance);
    for (std::int64_t batch : {33, 64, 1, 17, 33}) {
      both.run(Names<Name<"loss">, Name<"accuracy">>{}, Train{}, {batch});
      both.run(Names<Name<"logits">>{}, Names<>{}, {batch + 1});
    }
    EXPECT_EQ(both.executor.global_step(), 5);
  }
}

TEST(Training, MlpInDouble) { train_mlp<double>(1e-10); }
// Adam divides by the root of a squared gradient: float and double differ where the gradient nearly cancels.
TEST(Training, MlpInFloat) { train_mlp<float>(2e-3); }

struct Cnn {
  static constexpr void define(GraphBuilder& g) {
    const Extent batch = g.dynamic("batch");
    const Tensor images = g.placeholder<double>("images", {batch, 144}),
                 labels = g.placeholder<std::int32_t>("labels", {batch});
    Tensor x = reshape(images, {batch, 12, 12, 1});
    x = max_pool(relu(conv2d(x, 5, {3, 3}, "conv1")), 2);
    x = max_pool(relu(conv2d(x, 9, {3, 3}, "conv2", {.padding = Padding::valid})), 2);
    const Tensor logits = dense(relu(dense(flatten(x), 11, "hidden")), 5, "out");
    g.name("train",
           minimize(g.name("loss", sparse_softmax_cross_entropy(logits, labels)), Adam{.learning_rate = 1e-2}));
  }
};

TEST(Training, CnnInDouble) {
  for (int threads = 1; threads <= 3; ++threads) {
    SCOPED_TRACE(threads);
    AgainstOracle<Cnn> both(threads, 1e-9);
    for (std::int64_t batch : {3, 7, 1}) both.run(Loss{}, Train{}, {batch});
  }
}

// A generator and a discriminator, each with its own optimizer, trained alternately and together.
struct Gan {
  static constexpr Tensor discriminator(Tensor x, Tensor w, Tensor v) { return matmul(tanh(matmul(x, w)), v); }
  static constexpr void define(GraphBuilder& g) {
    const Extent batch = g.dynamic("batch");
    const Tensor real = g.placeholder<double>("real", {batch, 7}), noise = g.placeholder<double>("noise", {batch, 3});
    const Tensor fake = g.name("fake", dense(tanh(dense(noise, 5, "generator/a")), 7, "generator/b"));
    const Tensor w = g.variable<double>("discriminator/w", {7, 5}, glorot_uniform());
    const Tensor v = g.variable<double>("discriminator/v", {5, 1}, glorot_uniform());
    const Tensor on_real = discriminator(real, w, v), on_fake = discriminator(fake, w, v);
    const Tensor d_loss = g.name("d_loss", reduce_mean(log(1 + exp(-on_real))) + reduce_mean(log(1 + exp(on_fake))));
    const Tensor g_loss = g.name("g_loss", reduce_mean(log(1 + exp(-on_fake))));
    g.name("train_d", minimize(d_loss, Adam{.learning_rate = 1e-2}, {.scope = "discriminator/"}));
    g.name("train_g", minimize(g_loss, Adam{.learning_rate = 2e-2}, {.scope = "generator/", .count_step = false}));
  }
};

TEST(Training, TwoOptimizersWithScopes) {
  for (int threads = 1; threads <= 2; ++threads) {
    SCOPED_TRACE(threads);
    AgainstOracle<Gan> both(threads, 1e-9);
    for (int i = 0; i < 3; ++i) {
      both.run(Names<Name<"d_loss">>{}, Names<Name<"train_d">>{}, {5});
      both.run(Names<Name<"g_loss">>{}, Names<Name<"train_g">>{}, {9});
      both.run(Names<Name<"d_loss">, Name<"g_loss">, Name<"fake">>{}, Names<Name<"train_d">, Name<"train_g">>{}, {4});
    }
    EXPECT_EQ(both.executor.global_step(), 6);
  }
}

}  // namespace training_test
}  // namespace crochet
