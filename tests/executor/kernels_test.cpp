// SPDX-License-Identifier: Apache-2.0
// Products, reductions, losses, broadcasts and views on the CPU executor against the Oracle, with and without a fused
// epilogue, in float and double.
#include "against_oracle.hpp"

namespace crochet {
namespace kernels_test {

template <class T>
struct Products {
  static constexpr void define(GraphBuilder& g) {
    const Extent batch = g.dynamic("batch");
    const Tensor x = g.placeholder<T>("x", {batch, 17}), y = g.placeholder<T>("y", {batch, 33});
    const Tensor a = g.variable<T>("a", {17, 33}, uniform(-1, 1)), b = g.variable<T>("b", {33, 17}, uniform(-1, 1));
    const Tensor one = g.variable<T>("one", {17, 1}, uniform(-1, 1)),
                 bias = g.variable<T>("bias", {33}, uniform(-1, 1));
    g.name("nn", matmul(x, a));
    g.name("nt", matmul(x, b, {.a = false, .b = true}));
    g.name("tn", matmul(x, y, {.a = true, .b = false}));
    g.name("tt", matmul(y, a, {.a = false, .b = true}));
    g.name("all transposed", matmul(a, x, {.a = true, .b = true}));
    g.name("to one column", matmul(x, one));
    g.name("from one column", matmul(one, one, {.a = false, .b = true}));
    g.name("dot", matmul(one, one, {.a = true, .b = false}));
    g.name("layer", relu(matmul(x, a) + bias));
    const Tensor h = tanh(matmul(x, a) * 0.5);
    g.name("read again", h * h - bias + y);
    g.name("row of columns", matmul(x, a) * reduce_sum(y, {1}, keep_dims));
    g.name("product of products", matmul(h, h, {.a = true, .b = false}));
    g.name("scaled", matmul(y, b) * reduce_sum(x));
  }
};

TEST(Products, Float) { agree_in_teams<Products<float>, float>({1, 2, 5, 0, 16, 65}); }
TEST(Products, Double) { agree_in_teams<Products<double>, double>({1, 2, 5, 0, 16, 65}); }

template <class T>
struct Reductions {
  static constexpr void define(GraphBuilder& g) {
    const Extent batch = g.dynamic("batch");
    const Tensor x = g.placeholder<T>("x", {batch, 5, 67}), row = g.placeholder<T>("row", {67});
    g.name("sum", reduce_sum(x));
    g.name("sum 0", reduce_sum(x, {0}));
    g.name("sum 1", reduce_sum(x, {1}));
    g.name("sum 2", reduce_sum(x, {2}));
    g.name("sum 0 and 2", reduce_sum(x, {0, 2}));
    g.name("sum 1 and 2, kept", reduce_sum(x, {1, 2}, keep_dims));
    g.name("mean 1", reduce_mean(x, {1}));
    g.name("mean 2 of a loop", reduce_mean(square(x - row), {2}));
    g.name("greatest 1", reduce_max(x, {1}));
    g.name("greatest 2", reduce_max(x, {2}));
    g.name("argmax 1", argmax(x, 1));
    g.name("argmax 2", argmax(x));
    g.name("behind a sum", exp(reduce_sum(x, {2}) * 0.01) - 1);
    g.name("behind columns", tanh(reduce_mean(x, {0, 1})) * row);
    g.name("centred", x - reduce_mean(x, {2}, keep_dims));
    g.name("repeated", broadcast_to(row, {batch, 5, 67}) + x);
    g.name("repeated in the middle", broadcast_to(reshape(row, {1, 67}), {5, 67}));
    g.name("outer in three", reduce_sum(x, {1}, keep_dims) * reduce_sum(x, {2}, keep_dims));
    g.name("viewed", reshape(x, {rest, 5}) * 2);
    g.name("elements", cast<T>(cast<std::int32_t>(reduce_sum(x * 0 + 1))));
  }
};

TEST(Reductions, Float) { agree_in_teams<Reductions<float>, float>({1, 2, 7, 64}); }
TEST(Reductions, Double) { agree_in_teams<Reductions<double>, double>({1, 2, 7, 64}); }

struct Empty {
  static constexpr void define(GraphBuilder& g) {
    const Tensor x = g.placeholder<float>("x", {g.dynamic("batch"), 5});
    g.name("sum", reduce_sum(x));
    g.name("sum of columns", reduce_sum(x, {0}));
    g.name("greatest", reduce_max(x));
    g.name("greatest of columns", reduce_max(x, {0}));
    g.name("greatest of rows", reduce_max(x, {1}));
    g.name("gram", matmul(x, x, {.a = true, .b = false}));
    g.name("rows", tanh(x) + 1);
  }
};

TEST(Reductions, OfNothing) {
  agree_in_teams<Empty, float>({3, 0, 2});  // 0 after 3: old contents of the memory must not become results
}

template <class T>
struct Losses {
  static constexpr void define(GraphBuilder& g) {
    const Extent batch = g.dynamic("batch");
    const Tensor x = g.placeholder<T>("x", {batch, 17}), labels = g.placeholder<std::int32_t>("labels", {batch});
    const Tensor p = g.placeholder<T>("p", {batch, 17}), w = g.placeholder<T>("w", {batch});
    const Tensor shift = g.variable<T>("shift", {17}, uniform(-3, 3));
    const Tensor z = x * 10 + shift;
    const Tensor sparse = sparse_softmax_cross_entropy(z, labels), full = softmax_cross_entropy(z, p);
    g.name("sparse", sparse);
    g.name("full", full);
    g.name("d sparse", gradient(sparse, z));
    g.name("d full", gradient(full, z));
    g.name("d weighted", gradient(reduce_sum(softmax_cross_entropy(z, p, per_example) * w), z));
    g.name("d shift", gradient(sparse + full, shift));
    g.name("accuracy", reduce_mean(cast<T>(equal(argmax(z), labels))));
    g.name("large", sparse_softmax_cross_entropy(z * 1000, labels));
  }
};

TEST(Losses, Float) { agree_in_teams<Losses<float>, float>({1, 2, 7, 33}); }
TEST(Losses, Double) { agree_in_teams<Losses<double>, double>({1, 2, 7, 33}); }

TEST(Losses, ALabelOutsideIsNotANumber) {
  AgainstOracle<Losses<float>> both(1, 2e-5);
  both.most = 40;  // of 17 classes
  both.run_all({20});
  EXPECT_TRUE(std::isnan(both.oracle.scalar("sparse")));
}

}  // namespace kernels_test
}  // namespace crochet
