// SPDX-License-Identifier: Apache-2.0
// The value of a variable at each read, on the CPU executor: program order, fetches, optimizers on tied and on shared
// weights. These graphs run with the real kernels and threads; tests/graph/passes/plan_test.cpp has many more of this
// kind.
#include "against_oracle.hpp"

namespace crochet {
namespace assignments_test {

struct Order {
  static constexpr void define(GraphBuilder& g) {
    const Extent batch = g.dynamic("batch");
    const Tensor x = g.placeholder<double>("x", {batch, 70});
    const Tensor w = g.variable<double>("w", {70, 70}, uniform(-0.2, 0.2)), n = g.variable<double>("n", {}, zeros());
    const Tensor flat = reshape(w, {4900});
    const Tensor y = tanh(matmul(x, w));
    g.name("before", w * 3);
    g.name("count", g.assign(n, n + 1));
    g.name("set", g.assign(w, matmul(y, y, {.a = true, .b = false}) * 0.01 + w));
    g.name("after", w * 3 + n);
    g.name("again", g.assign(w, w * 0.5));
    g.name("view of old", flat * 1);
    g.name("y", y);
    g.name("z", matmul(x, w));
  }
};

TEST(Assignments, HappenInProgramOrder) {
  for (int threads = 1; threads <= 3; ++threads) {
    SCOPED_TRACE(threads);
    AgainstOracle<Order> both(threads, 1e-11);
    for (std::int64_t batch : {3, 65}) {
      both.run(Names<Name<"before">, Name<"y">, Name<"w">>{}, Names<>{}, {batch});
      both.run(Names<Name<"before">, Name<"after">, Name<"w">>{}, Names<>{}, {batch});
      both.run(Names<Name<"w">, Name<"n">>{}, Names<Name<"set">, Name<"count">>{}, {batch});
      both.run_all({batch});
    }
  }
}

TEST(Assignments, OfWhatIsNotAskedForDoNotHappen) {
  AgainstOracle<Order> both;
  both.run(Names<Name<"before">, Name<"y">>{}, Names<>{}, {2});
  EXPECT_EQ(both.executor.variable(Name<"n">{})[0], 0);
}

struct Tied {
  static constexpr void define(GraphBuilder& g) {
    const Tensor x = g.placeholder<double>("x", {g.dynamic("batch"), 11});
    const Tensor w = g.variable<double>("w", {11, 5}, glorot_uniform()), b = g.variable<double>("b", {11}, zeros());
    const Tensor decoded = matmul(tanh(matmul(x, w)), w, {.a = false, .b = true}) + b;
    const Tensor loss = g.name("loss", reduce_mean(square(decoded - x)));
    const Tensor penalty = g.name("penalty", reduce_sum(square(w)) + reduce_sum(abs(b)));
    g.name("fit", minimize(loss, Adam{.learning_rate = 0.05}));
    g.name("shrink", minimize(penalty, SGD{0.01}, {.count_step = false}));
    g.name("change", g["w"] - g.variable<double>("first", {11, 5}, glorot_uniform(), false));
  }
};

TEST(Assignments, OptimizersOnTiedWeights) {
  for (int threads = 1; threads <= 2; ++threads) {
    AgainstOracle<Tied> both(threads, 1e-9);
    for (int i = 0; i < 3; ++i) {
      both.run(Names<Name<"loss">>{}, Names<Name<"fit">>{}, {13});
      both.run(Names<Name<"loss">, Name<"penalty">>{}, Names<Name<"fit">, Name<"shrink">>{}, {7});
      both.run(Names<Name<"change">, Name<"w">>{}, Names<Name<"shrink">>{}, {1});
    }
  }
}

}  // namespace assignments_test
}  // namespace crochet
