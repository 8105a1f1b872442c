// SPDX-License-Identifier: Apache-2.0
// identity and stop_gradient, control dependencies, assignments by a difference, and branches by select, on the CPU
// executor against the Oracle.
#include "against_oracle.hpp"

namespace crochet {
namespace control_test {

struct Steered {
  static constexpr void define(GraphBuilder& g) {
    const Extent batch = g.dynamic("batch");
    const Tensor x = g.placeholder<double>("x", {batch, 7});
    const Tensor w = g.variable<double>("w", {7}, uniform(-1, 1)),
                 n = g.variable<std::int64_t>("n", {}, zeros(), false);
    g.name("before", identity(w));
    g.name("before, times 1", w * 1);
    const Tensor count = assign_add(n, 1);
    const Tensor shrink = assign_sub(w, w * 0.25);
    const Tensor y = g.name("y", reduce_mean(square(x * w + 1)));
    g.name("y and count", with_dependencies(y, {count}));
    g.name("w, shrunk", with_dependencies(w, {shrink}));
    g.name("x and both", with_dependencies(x, {count, shrink}) * 2);
    g.name("both", group({count, shrink}));
    g.name("n later", n * 10);
    g.name("d", gradient(stop_gradient(y) * y + reduce_sum(stop_gradient(w) * w), w));
    g.name("d through", gradient(with_dependencies(identity(y), {count}), w));
  }
};

template <class... N>
using Wanted = Names<N...>;

TEST(Control, DependenciesRunWithTheValueThatHasThem) {
  for (int threads = 1; threads <= 2; ++threads) {
    AgainstOracle<Steered> both(threads, 1e-12);
    const auto n = both.executor.variable(Name<"n">{});
    both.run(Wanted<Name<"y">, Name<"before">>{}, Names<>{}, {3});
    EXPECT_EQ(n[0], 0);
    both.run(Wanted<Name<"y and count">>{}, Names<>{}, {3});
    EXPECT_EQ(n[0], 1);
    both.run(Wanted<Name<"x and both">, Name<"n later">, Name<"before">>{}, Names<>{}, {5});
    EXPECT_EQ(n[0], 2);
    both.run(Wanted<Name<"d through">>{}, Names<>{}, {2});
    both.run(Names<>{}, Wanted<Name<"both">>{}, {1});
    both.run(Wanted<Name<"w, shrunk">, Name<"before">, Name<"before, times 1">, Name<"w">>{}, Names<>{}, {1});
    both.run(Wanted<Name<"d">>{}, Names<>{}, {4});
    both.run(Wanted<Name<"x and both">, Name<"n later">, Name<"w, shrunk">>{}, Names<>{}, {0});
    both.run_all({3});
  }
}

// A branch is a select: both sides are computed and one is selected, also for an assigned value.
struct Branch {
  static constexpr void define(GraphBuilder& g) {
    const Tensor x = g.placeholder<double>("x", {g.dynamic("batch"), 5});
    const Tensor flag = g.placeholder<std::int32_t>("flag", {});
    const Tensor best = g.variable<double>("best", {}, constant_initializer(1e9), false);
    const Tensor w = g.variable<double>("w", {5}, uniform(-1, 1)),
                 kept = g.variable<double>("kept", {5}, zeros(), false);
    const Tensor loss = g.name("loss", reduce_mean(select(greater(flag, 1), square(x - w), abs(x - w))));
    g.name("fit", minimize(loss, SGD{0.3}));
    // Keeps the weights of the lowest loss so far.
    const Tensor better = less(loss, best);
    g.name("keep", group({g.assign(kept, select(better, w, kept)), g.assign(best, select(better, loss, best))}));
  }
};

TEST(Control, ABranchIsASelect) {
  AgainstOracle<Branch> both(2, 1e-12);
  for (int i = 0; i < 6; ++i) both.run(Wanted<Name<"loss">>{}, Wanted<Name<"fit">, Name<"keep">>{}, {3});
}

TEST(Control, WhatIsPassedOnIsFoldedAway) {
  GraphBuilder g;
  const Tensor x = g.placeholder<float>("x", {3});
  const Tensor y = identity(stop_gradient(identity(x * 2))) + 1;
  const ConstexprVector<int> fetched{y.id}, none;
  for (const Node& n : simplify(g.graph(), fetched, none).nodes) {
    EXPECT_FALSE(n.is(op::identity) || n.is(op::stop_gradient));
  }
}

}  // namespace control_test
}  // namespace crochet
