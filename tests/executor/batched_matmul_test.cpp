// SPDX-License-Identifier: Apache-2.0
// Batched matrix products and their gradients on the CPU executor against the Oracle: every combination of transposes,
// batches that broadcast, one operand shared by the whole batch, epilogues, empty batches.
#include "against_oracle.hpp"

namespace crochet {
namespace batched_matmul_test {

template <class T>
struct Batches {
  static constexpr void define(GraphBuilder& g) {
    const Extent batch = g.dynamic("batch");
    const Tensor x = g.placeholder<T>("x", {batch, 5, 17}), y = g.placeholder<T>("y", {batch, 17, 3});
    const Tensor w = g.placeholder<T>("w", {17, 35}), s = g.placeholder<T>("s", {batch, 1, 3});
    const Tensor heads = g.placeholder<T>("heads", {batch, 2, 7, 4}), one = g.placeholder<T>("one", {2, 1, 4, 13});
    g.name("nn", matmul(x, y));
    g.name("nt", matmul(x, x, {.a = false, .b = true}));
    g.name("tn", matmul(x, x, {.a = true, .b = false}));
    g.name("tt", matmul(y, x, {.a = true, .b = true}));
    g.name("one matrix", matmul(x, w));
    g.name("one matrix, first transposed", matmul(y, w, {.a = true, .b = false}));
    g.name("one matrix on the left", matmul(w, y, {.a = true, .b = false}));
    g.name("scores", matmul(heads, heads, {.a = false, .b = true}));
    g.name("heads with few", matmul(heads, reshape(one, {2, 4, 13})));
    g.name("few with heads", matmul(reshape(one, {2, 4, 13}), heads, {.a = true, .b = true}));
    g.name("rank 5", matmul(reshape(heads, {batch, 1, 2, 7, 4}), one));
    g.name("epilogue", tanh(matmul(x, y) * 0.25 + s));
    g.name("epilogue of heads", exp(matmul(heads, heads, {.a = false, .b = true}) * 0.5) - 1);
    g.name("one row", matmul(s, y, {.a = false, .b = true}));
    g.name("one column", matmul(y, s, {.a = false, .b = true}));
  }
};

TEST(BatchedMatmul, Float) { agree_in_teams<Batches<float>, float>({1, 2, 5, 0, 16}); }
TEST(BatchedMatmul, Double) { agree_in_teams<Batches<double>, double>({1, 3, 0, 7}); }

// tests/graph tests the rules against finite differences; here their products run on the kernels.
struct Gradients {
  static constexpr void define(GraphBuilder& g) {
    const Extent batch = g.dynamic("batch");
    const Tensor x = g.placeholder<double>("x", {batch, 5, 11});
    const Tensor q = dense(x, 8, "q"), k = dense(x, 8, "k");
    const Tensor mixed = matmul(tanh(matmul(q, k, {.a = false, .b = true})), x);
    const Tensor shared = g.variable<double>("shared", {3, 5}, uniform(-1, 1));
    const Tensor loss = g.name("loss", reduce_mean(square(matmul(shared, mixed))));
    g.name("fit", minimize(loss, SGD{0.1}));
  }
};

TEST(BatchedMatmul, Trains) {
  for (int threads = 1; threads <= 2; ++threads) {
    AgainstOracle<Gradients> both(threads, 1e-10);
    for (std::int64_t batch : {3, 1, 4}) both.run(Names<Name<"loss">>{}, Names<Name<"fit">>{}, {batch});
  }
}

}  // namespace batched_matmul_test
}  // namespace crochet
