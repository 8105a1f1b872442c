// SPDX-License-Identifier: Apache-2.0
// The same models with Eigen's products: the other backend of the same interface.
#include <crochet/executor/cpu/eigen.hpp>

#include "../../ranks/models.hpp"
#include "../against_oracle.hpp"

namespace crochet {
namespace eigen_test {

template <class T>
struct Model {
  static constexpr void define(GraphBuilder& g) {
    const Extent batch = g.dynamic("batch");
    const Tensor images = g.placeholder<T>("images", {batch, 9, 7, 3}),
                 labels = g.placeholder<std::int32_t>("labels", {batch});
    const Tensor x = max_pool(tanh(conv2d(images, 17, {3, 2}, "conv", {.stride = {2, 1}})), 2);
    const Tensor a = g.variable<T>("a", {5, 51}, glorot_uniform());
    const Tensor logits = matmul(tanh(dense(flatten(x), 51, "hidden")), a, {.a = false, .b = true});
    g.name("logits", logits);
    g.name("gram", matmul(logits, logits, {.a = true, .b = false}) * 2);
    g.name("train", minimize(g.name("loss", sparse_softmax_cross_entropy(logits, labels)), SGD{0.1}));
  }
};

template <class T>
void test(double tolerance) {
  for (int threads = 1; threads <= 3; ++threads) {
    AgainstOracle<Model<T>, kernel::EigenProducts> both(threads, tolerance);
    for (std::int64_t batch : {5, 33, 1}) {
      SCOPED_TRACE("batch " + std::to_string(batch) + ", threads " + std::to_string(threads));
      both.run(Names<Name<"loss">>{}, Names<Name<"train">>{}, {batch});
      both.run(Names<Name<"logits">, Name<"gram">>{}, Names<>{}, {batch});
    }
    both.run(Names<Name<"logits">, Name<"gram">>{}, Names<>{}, {0});
  }
}

TEST(Eigen, Double) { test<double>(1e-12); }
TEST(Eigen, Float) { test<float>(2e-4); }

/// Products with operands that are stored as bfloat16.
struct Stored {
  static constexpr void define(GraphBuilder& g) {
    const Extent batch = g.dynamic("batch");
    const Tensor x = g.placeholder<float>("x", {batch, 9});
    const Tensor w = g.variable<bfloat16>("w", {9, 21}, glorot_uniform());
    const Tensor h = cast<bfloat16>(g.name("y", matmul(x, w)));
    g.name("back", matmul(h, w, {.a = false, .b = true}));
    g.name("gram", matmul(h, h, {.a = true, .b = false}));
  }
};
TEST(Eigen, StoredBfloat16) {
  for (int threads = 1; threads <= 2; ++threads) {
    AgainstOracle<Stored, kernel::EigenProducts> both(threads, 1e-2);  // h may be rounded to the other neighbour
    for (std::int64_t batch : {5, 1, 0}) both.run(Names<Name<"y">, Name<"back">, Name<"gram">>{}, Names<>{}, {batch});
  }
}

/// Every kernel that multiplies matrices, and its gradients.
struct Products {
  static constexpr void define(GraphBuilder& g) {
    const Extent batch = g.dynamic("batch");
    const Tensor images = g.placeholder<double>("images", {batch, 9, 7, 3});
    const Tensor x = tanh(conv2d(images, 17, {3, 2}, "first", {.stride = {2, 1}}));
    const Tensor y = tanh(conv2d(x, 5, {3, 3}, "second", {.padding = Padding::valid, .dilation = {1, 2}}));
    const Tensor z = relu(conv2d(y, 33, {1, 1}, "pixel"));
    const Tensor a = g.variable<double>("a", {3, 5, 7}, uniform(-1, 1)),
                 b = g.variable<double>("b", {3, 7, 4}, uniform(-1, 1));
    const Tensor all = reduce_sum(square(z)) + reduce_sum(square(matmul(a, b)));
    g.name("y", z);
    g.name("train", minimize(g.name("loss", all), SGD{1e-3}));
  }
};
TEST(Eigen, ProductsAndTheirGradients) {
  for (int threads = 1; threads <= 3; ++threads) {
    AgainstOracle<Products, kernel::EigenProducts> both(threads, 1e-10);
    for (const std::int64_t batch : {1, 6, 33}) {
      SCOPED_TRACE(batch);
      both.run(Names<Name<"y">, Name<"loss">>{}, Names<Name<"train">>{}, {batch});
      both.run(Names<Name<"y">>{}, Names<>{}, {batch});
    }
  }
}

struct Attention {
  static constexpr void define(GraphBuilder& g) {
    const Tensor qkv = g.placeholder<double>("qkv", {g.dynamic("batch"), g.dynamic("length"), 24});
    const Tensor a = g.variable<double>("a", {24}, uniform(-1, 1));
    const Tensor y = g.name("y", self_attention(qkv + a, 2, {.causal = true}));
    g.name("d", gradient(reduce_sum(square(y)), a));
  }
};
TEST(Eigen, Attention) {
  for (int threads = 1; threads <= 3; ++threads) {
    AgainstOracle<Attention, kernel::EigenProducts> both(threads, 1e-12);
    for (const std::int64_t length : {1, 3, 0, 40, 130}) {
      SCOPED_TRACE(length);
      both.run(Names<Name<"y">>{}, Names<>{}, {2, length});
      both.run(Names<Name<"d">>{}, Names<>{}, {2, length});
    }
  }
}

/// A network with convolutions, batch norm and dropout, and a transformer: losses and variables of 25 steps.
template <class Network>
void trains_as_the_cpu() {
  auto tiles = Cpu{.threads = 1, .seed = 5}.compile<Network>();
  auto eigen = EigenCpu{.threads = 2, .seed = 5}.compile<Network>();
  const std::vector<float> expected = ranks_models::train(tiles, 22, 0, 1, 25);
  const std::vector<float> found = ranks_models::train(eigen, 22, 0, 1, 25);
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    ASSERT_NEAR(found[i], expected[i], 2e-3 * std::max(1.0F, std::abs(expected[i]))) << i;
  }
}
TEST(Eigen, TrainsNetworksAsTheCpu) {
  trains_as_the_cpu<ranks_models::Cnn>();
  trains_as_the_cpu<ranks_models::Transformer>();
}

TEST(Eigen, IsABackendOfTheCpu) {
  auto executor = EigenCpu{.threads = 1, .seed = 2}.compile<Model<float>>();
  static_assert(std::is_same_v<decltype(executor), cpu::Executor<kernel::EigenProducts, Model<float>>>);
}

}  // namespace eigen_test
}  // namespace crochet
