// SPDX-License-Identifier: Apache-2.0
// Weights are stored in panels; all access from outside the kernels is by rows.
#include "against_oracle.hpp"

namespace crochet {
namespace panels_test {

/// Only products read `w`; `tied` is also gathered, `small` has too few columns, `seen` has a view.
struct Model {
  static constexpr void define(GraphBuilder& g) {
    const auto x = g.placeholder<float>("x", {g.dynamic("n"), 40});
    const auto w = g.variable<float>("w", {40, 70}, uniform(-1, 1));
    const auto tied = g.variable<float>("tied", {70, 33}, uniform(-1, 1));
    const auto small = g.variable<float>("small", {33, 3}, uniform(-1, 1));
    const auto seen = g.variable<float>("seen", {3, 20}, uniform(-1, 1));
    const auto doubles = g.variable<double>("doubles", {20, 37}, uniform(-1, 1));
    g.name("w again", w);
    g.name("flat", reshape(seen, {60}));
    g.name("largest", reduce_max(tied));
    const auto h = matmul(matmul(matmul(matmul(x, w), tied), small), seen);
    const auto y = g.name("y", matmul(cast<double>(h), doubles));
    const auto loss = g.name("loss", reduce_mean(square(y)) + cast<double>(reduce_sum(square(w))) * 1e-3);
    g.name("train", minimize(loss, Adam{.learning_rate = 0.01}));
  }
};

using E = cpu::Executor<kernel::Tiles, Model>;

template <FixedString Text>
constexpr Layout layout = E::graph.nodes[static_cast<std::size_t>(find_node(E::graph, Name<Text>::view()))].layout;

TEST(Panels, AreForWhatOnlyProductsAndUpdatesRead) {
  static_assert(layout<"w"> == Layout::panels && layout<"doubles"> == Layout::panels);
  static_assert(layout<"w/Adam"> == Layout::panels && layout<"w/Adam_1"> == Layout::panels,
                "moments lie as their weight");
  static_assert(layout<"tied"> == Layout::row_major, "another operation reads it");
  static_assert(layout<"seen"> == Layout::row_major, "it has another shape as well");
  static_assert(layout<"small"> == Layout::row_major, "panels would be mostly empty");
}

/// A copy of `w` is the left operand of a product.
struct LeftToo {
  static constexpr void define(GraphBuilder& g) {
    const auto x = g.placeholder<float>("x", {g.dynamic("n"), 13});
    const auto w = g.variable<float>("w", {13, 33}, uniform(-1, 1));
    g.name("y", matmul(x, w));
    g.name("z", matmul(w * 1.0, g.variable<float>("v", {33, 40}, uniform(-1, 1))));
  }
};

TEST(Panels, AreNotTakenForRowsWhereACopyIsFoldedAway) {
  const auto& nodes = cpu::Executor<kernel::Tiles, LeftToo>::graph;
  EXPECT_EQ(nodes.nodes[static_cast<std::size_t>(find_node(nodes, "w"))].layout, Layout::panels);
  AgainstOracle<LeftToo> both(2, 2e-5);
  both.run(Names<Name<"y">, Name<"z">>{}, Names<>{}, {5});
}

TEST(Panels, TrainAsTheGraphSays) {
  for (int threads : {1, 2}) {
    AgainstOracle<Model> both(threads, 2e-5);
    for (std::int64_t n : {3, 1, 20}) both.run(Names<Name<"loss">, Name<"w">>{}, Names<Name<"train">>{}, {n});
  }
}

TEST(Panels, AreSeenRowByRow) {
  E executor({1, 7});
  executor.initialize();
  typename E::Workspace workspace;
  const std::vector<float> x(40, 1.F);
  const auto step = [&] {
    executor.run<Demand<Names<Name<"y">, Name<"w">, Name<"w again">>, Names<>>>(workspace,
                                                                                Feed<Name<"x">, std::vector<float>>{x});
    return executor.fetch<Name<"w">>(workspace);
  };
  const auto w = executor.variable(Name<"w">{});
  ASSERT_EQ(w.size(), 2800U);
  for (std::size_t i = 0; i < w.size(); ++i) w[i] = static_cast<float>(i);
  const auto fetched = step();
  for (std::int64_t i = 0; i < 40; ++i) {
    for (std::int64_t j = 0; j < 70; ++j) ASSERT_EQ(fetched(i, j), static_cast<float>(i * 70 + j)) << i << ", " << j;
  }
  EXPECT_EQ(executor.fetch<Name<"w again">>(workspace)(39, 69), 2799);
  executor.variable(Name<"w">{})[1] = -5;
  EXPECT_EQ(executor.fetch<Name<"w">>(workspace)(0, 1), -5) << "what was written is not lost before the next run";
  EXPECT_EQ(step()(0, 1), -5);
  executor.initialize();
  EXPECT_NE(step()(0, 1), -5) << "nor kept after a new beginning";
}

/// A run assigns `w` twice, and an update comes after both.
struct AssignedTwice {
  static constexpr void define(GraphBuilder& g) {
    const auto x = g.placeholder<float>("x", {g.dynamic("n"), 8});
    const auto w = g.variable<float>("w", {8, 20}, uniform(-1, 1));
    const auto half = g.name("half", g.assign(w, w * 0.5));
    const auto more = g.name("more", g.assign(w, half + 1));
    const auto y = g.name("y", matmul(x, more));
    g.name("train", minimize(reduce_sum(square(y)), SGD{0.01}));
  }
};

TEST(Panels, AFetchedAssignmentIsItsValueIfALaterOneOverwritesIt) {
  static_assert(cpu::Executor<kernel::Tiles, AssignedTwice>::graph.nodes[1].layout == Layout::panels);
  for (int threads : {1, 2}) {
    AgainstOracle<AssignedTwice> both(threads, 2e-5);
    both.run(Names<Name<"half">, Name<"more">, Name<"w">>{}, Names<>{}, {3});
    both.run(Names<Name<"half">>{}, Names<>{}, {3});
    both.run(Names<Name<"half">, Name<"more">, Name<"w">>{}, Names<Name<"train">>{}, {3});
    both.run(Names<Name<"more">, Name<"y">>{}, Names<>{}, {3});
  }
}

/// The last loop before the reduction is that of an update of `w`.
struct ReducedBesides {
  static constexpr void define(GraphBuilder& g) {
    const auto x = g.placeholder<float>("x", {g.dynamic("n"), 8}), z = g.placeholder<float>("z", {8, 20});
    const auto w = g.variable<float>("w", {8, 20}, uniform(-1, 1));
    g.name("y", matmul(x, w));
    g.name("shrink", g.assign(w, w * 0.5));
    g.name("energy", reduce_sum(square(z)));
    g.name("sums", reduce_sum(square(z), {1}));
  }
};

TEST(Panels, AReductionDoesNotJoinTheirUpdate) {
  for (int threads : {1, 2}) {
    AgainstOracle<ReducedBesides> both(threads, 2e-5);
    both.run(Names<Name<"energy">, Name<"sums">, Name<"w">>{}, Names<Name<"shrink">>{}, {3});
    both.run_all({3});
  }
}

// For a sanitizer.
TEST(Panels, AnAddressIsReadableBehindARun) {
  E executor({1, 7});
  executor.initialize();
  typename E::Workspace workspace;
  const auto w = executor.variable(Name<"w">{});
  w[7] = 7;
  executor.run<Demand<Names<Name<"y">>, Names<>>>(workspace,
                                                  Feed<Name<"x">, std::vector<float>>{std::vector<float>(40, 1.F)});
  EXPECT_EQ(w[7], 7);
}

TEST(Panels, MoveWithTheExecutor) {
  E executor({1, 7});
  executor.initialize();
  executor.variable(Name<"w">{})[5] = 42;
  E moved(std::move(executor));
  EXPECT_EQ(moved.variable(Name<"w">{})[5], 42);
}

}  // namespace panels_test
}  // namespace crochet
