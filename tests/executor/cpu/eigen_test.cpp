// SPDX-License-Identifier: Apache-2.0
// The same models with Eigen's products: the other backend of the same interface.
#include <crochet/executor/cpu/eigen.hpp>

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

struct Attention {
  static constexpr void define(GraphBuilder& g) {
    const Tensor qkv = g.placeholder<float>("qkv", {g.dynamic("batch"), g.dynamic("length"), 24});
    g.name("y", self_attention(qkv, 2));
  }
};
TEST(Eigen, AttentionOfNoLength) {
  AgainstOracle<Attention, kernel::EigenProducts> both(1, 2e-4);
  for (const std::int64_t length : {0, 3}) both.run(Names<Name<"y">>{}, Names<>{}, {2, length});
}

TEST(Eigen, IsABackendOfTheCpu) {
  auto executor = EigenCpu{.threads = 1, .seed = 2}.compile<Model<float>>();
  static_assert(std::is_same_v<decltype(executor), cpu::Executor<kernel::EigenProducts, Model<float>>>);
}

}  // namespace eigen_test
}  // namespace crochet
