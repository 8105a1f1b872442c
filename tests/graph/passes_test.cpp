// SPDX-License-Identifier: Apache-2.0
// Each pass as a function on a small subgraph.
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include <crochet/graph/frozen.hpp>
#include <crochet/graph/passes/arena.hpp>
#include <crochet/model.hpp>

namespace crochet {
namespace passes_test {

constexpr double inf = std::numeric_limits<double>::infinity();

/// A whole graph as a subgraph, with a demand.
constexpr Subgraph all_of(const GraphBuilder& g, const ConstexprVector<int>& fetched,
                          const ConstexprVector<int>& targets = {}) {
  Subgraph s{g.graph().nodes, fetched, targets};
  for (std::size_t i = 0; i < s.nodes.size(); ++i) {
    if (s.nodes[i].is(op::variable) || s.nodes[i].is(op::placeholder)) s.nodes[i].origin = static_cast<int>(i);
  }
  return s;
}
constexpr int count(const Subgraph& g, const Op& op) {
  int n = 0;
  for (const Node& node : g.nodes) n += node.is(op) ? 1 : 0;
  return n;
}

// prune

TEST(Prune, KeepsWhatTheDemandNeeds) {
  static_assert([] {
    GraphBuilder g;
    const Tensor x = g.placeholder<float>("x", {3}), w = g.variable<float>("w", {3}, zeros());
    const Tensor y = x * w;
    exp(y);
    g.assign(w, w + 1);
    const Subgraph p = prune(all_of(g, {y.id}));
    return p.nodes.size() == 3 && p.nodes[2].is(op::mul) && p.fetched[0] == 2 && p.nodes[0].origin == x.id;
  }());
}

TEST(Prune, AnAssignmentLivesIfATargetOrAReaderNeedsIt) {
  GraphBuilder g;
  const Tensor w = g.variable<float>("w", {3}, zeros());
  const Tensor set = g.assign(w, w + 1), after = w * 2, of_new = set * 2;
  EXPECT_EQ(count(prune(all_of(g, {w.id})), op::assign), 0);
  EXPECT_EQ(count(prune(all_of(g, {after.id})), op::assign), 0) << "to look at a variable is not to change it";
  EXPECT_EQ(count(prune(all_of(g, {}, {set.id})), op::assign), 1);
  EXPECT_EQ(count(prune(all_of(g, {of_new.id})), op::assign), 1);
}

// see_assignments

TEST(SeeAssignments, AUseSeesTheLatestAssignmentBeforeItThatThePlanRuns) {
  GraphBuilder g;
  const Tensor w = g.variable<float>("w", {}, zeros());
  const Tensor before = w + 1, first = g.assign(w, before), between = w + 2, second = g.assign(w, between),
               after = w + 3;
  const auto reads = [&](Tensor t, const ConstexprVector<int>& targets) {
    ConstexprVector<int> all = targets;
    all.push_back(t.id);
    return see_assignments(all_of(g, {}, all)).nodes[static_cast<std::size_t>(t.id)].inputs[0];
  };
  EXPECT_EQ(reads(before, {second.id, first.id}), w.id);
  EXPECT_EQ(reads(between, {first.id}), first.id);
  EXPECT_EQ(reads(between, {}), w.id);
  EXPECT_EQ(reads(after, {first.id}), first.id);
  EXPECT_EQ(reads(after, {second.id}), second.id);
  EXPECT_EQ(reads(between, {second.id}), w.id) << "the first assignment is not run";
  EXPECT_EQ(see_assignments(all_of(g, {}, {first.id, second.id})).nodes[static_cast<std::size_t>(second.id)].inputs[0],
            w.id)
      << "what is written is the variable";
}

TEST(SeeAssignments, AGradientSeesWhatItsLossSaw) {
  GraphBuilder g;
  const Tensor w = g.variable<float>("w", {}, zeros());
  const Tensor loss = square(w);
  const Tensor set = g.assign(w, w + 1), d = gradient(loss, w);
  const Subgraph s = prune(see_assignments(all_of(g, {d.id}, {set.id})));
  for (const Node& n : s.nodes) {
    EXPECT_EQ(n.moment, -1) << "moments are used up";
    if (n.is(op::mul)) {
      EXPECT_FALSE(s.nodes[static_cast<std::size_t>(n.inputs[0])].is(op::assign));
    }
  }
}

// share

TEST(Share, EqualNodesBecomeOne) {
  static_assert([] {
    GraphBuilder g;
    const Tensor x = g.placeholder<float>("x", {3});
    const Tensor a = exp(x * 2), b = exp(x * 2), c = exp(x * 3);
    const Subgraph s = share(all_of(g, {a.id, b.id, c.id}));
    return s.fetched[0] == s.fetched[1] && s.fetched[0] != s.fetched[2] && count(s, op::exp) == 2;
  }());
}

TEST(Share, ButNotNodesThatDifferInAnything) {
  GraphBuilder g;
  const Tensor x = g.placeholder<float>("x", {4}), y = g.placeholder<float>("y", {4});
  const ConstexprVector<int> different = {reshape(x, {2, 2}).id,
                                          reshape(x, {4, 1}).id,
                                          reduce_sum(x, {0}).id,
                                          reduce_sum(x, {0}, keep_dims).id,
                                          cast<double>(x).id,
                                          cast<std::int32_t>(x).id,
                                          g.constant(1.F).id,
                                          g.constant(1.0).id,
                                          (x - y).id,
                                          (y - x).id};
  const Subgraph s = share(all_of(g, different));
  for (std::size_t i = 0; i < different.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) EXPECT_NE(s.fetched[i], s.fetched[j]) << i << " and " << j;
  }
}

TEST(Share, NeverAssignments) {
  GraphBuilder g;
  const Tensor w = g.variable<float>("w", {}, zeros()), one = g.constant(1.F);
  const Tensor a = g.assign(w, one), b = g.assign(w, one);
  EXPECT_EQ(count(share(all_of(g, {}, {a.id, b.id})), op::assign), 2);
}

TEST(Share, ZeroAndMinusZeroAreTwoConstants) {
  for (int others = 0; others < 40; ++others) {  // whether the two collide in the hash table depends on its size
    GraphBuilder g;
    const Tensor zero = g.constant(0.0), minus_zero = g.constant(-0.0);
    ConstexprVector<int> fetched = {zero.id, minus_zero.id};
    for (int i = 0; i < others; ++i) fetched.push_back(g.constant(i + 1.0).id);
    const Subgraph s = share(all_of(g, fetched));
    EXPECT_NE(s.fetched[0], s.fetched[1]) << others;
  }
}

// fold

/// The node that an expression of constants folds to.
template <class F>
constexpr Node folded(F f) {
  GraphBuilder g;
  const Tensor y = f(g);
  const Subgraph s = fold(all_of(g, {y.id}));
  return s.nodes[static_cast<std::size_t>(s.fetched[0])];
}
template <class F>
constexpr bool folds_to(double value, F f) {
  const Node n = folded(f);
  return n.is(op::constant) && n.attributes.reals[0] == value;
}

TEST(Fold, ComputesOnConstants) {
  static_assert(folds_to(7, [](GraphBuilder& g) { return 1 + 2 * g.constant(3.0); }));
  static_assert(folds_to(1.5, [](GraphBuilder& g) { return sqrt(square(g.constant(-3.0))) / 2; }));
  static_assert(folds_to(-3, [](GraphBuilder& g) { return cast<float>(-g.constant(std::int32_t{3})); }));
  static_assert(folds_to(4, [](GraphBuilder& g) { return g.constant(std::int64_t{3}) + 1; }));
  static_assert(folds_to(0, [](GraphBuilder& g) { return g.constant(std::int32_t{3}) * 0.5; }), "0.5 is the integer 0");
  static_assert(folds_to(-1, [](GraphBuilder& g) { return cast<float>(g.constant(std::int32_t{0}) - 1.5); }));
}

TEST(Fold, TakesSquareRootsOfAnySize) {
  for (double x : {1e-99, 1e-30, 0.3, 1.0, 2.0, 4.0, 1e30, 1e99}) {
    const Node n = folded([&](GraphBuilder& g) { return sqrt(g.constant(x)); });
    EXPECT_DOUBLE_EQ(n.attributes.reals[0], std::sqrt(x));
  }
}

TEST(Fold, LeavesWhatTheRunShouldDecide) {
  const auto stays = [](auto f) { return !folded(f).is(op::constant); };
  EXPECT_TRUE(stays([](GraphBuilder& g) { return g.constant(1.0) / 0; }));
  EXPECT_TRUE(stays([](GraphBuilder& g) { return sqrt(g.constant(-1.0)); }));
  EXPECT_TRUE(stays([](GraphBuilder& g) { return g.constant(inf) - inf; }));
  EXPECT_TRUE(stays([](GraphBuilder& g) { return g.constant(inf) * 0; }));
  EXPECT_TRUE(stays([](GraphBuilder& g) { return g.constant(1e200) * 1e200; }));
  EXPECT_TRUE(stays([](GraphBuilder& g) { return g.constant(1e30F) * 1e30; })) << "infinite in float";
  EXPECT_TRUE(stays([](GraphBuilder& g) { return g.constant(1e-30F) * 1e-30; })) << "0 in float";
  EXPECT_TRUE(stays([](GraphBuilder& g) { return square(g.constant(1e-30F)); }));
  EXPECT_TRUE(stays([](GraphBuilder& g) { return cast<float>(g.constant(1e300)); }));
  EXPECT_TRUE(stays([](GraphBuilder& g) { return g.constant(std::uint8_t{200}) + 100; }));
  EXPECT_TRUE(stays([](GraphBuilder& g) { return -g.constant(std::uint8_t{1}); }));
  EXPECT_TRUE(stays([](GraphBuilder& g) { return g.constant(std::int32_t{2000000000}) * 2; }));
  EXPECT_TRUE(stays([](GraphBuilder& g) { return square(g.constant(std::int64_t{1} << 40)); }))
      << "not exact in double";
  EXPECT_TRUE(stays([](GraphBuilder& g) { return cast<std::int32_t>(g.constant(2.5)); }));
  EXPECT_TRUE(stays([](GraphBuilder& g) { return g.constant(std::int32_t{7}) / 2; }));
}

TEST(Fold, WorksInTheCompilerWhateverTheConstants) {
  static_assert(!folded([](GraphBuilder& g) { return g.constant(1e200) * 1e200; }).is(op::constant));
  static_assert(
      !folded([](GraphBuilder& g) { return g.placeholder<double>("x", {}) * 1e200 * 1e200; }).is(op::constant));
  static_assert(!folded([](GraphBuilder& g) { return g.constant(inf) - inf; }).is(op::constant));
}

TEST(Fold, DropsWhatChangesNothing) {
  const auto is_x = [](auto f) {
    return folded([&](GraphBuilder& g) { return f(tanh(g.placeholder<float>("x", {3}))); }).is(op::tanh);
  };
  EXPECT_TRUE(is_x([](Tensor x) { return x * 1; }));
  EXPECT_TRUE(is_x([](Tensor x) { return 1 * x; }));
  EXPECT_TRUE(is_x([](Tensor x) { return x / 1; }));
  EXPECT_TRUE(is_x([](Tensor x) { return x - 0; }));
  EXPECT_TRUE(is_x([](Tensor x) { return -(-x); }));
  EXPECT_TRUE(is_x([](Tensor x) { return stop_gradient(identity(x)); }));
  EXPECT_FALSE(is_x([](Tensor x) { return x + 0; })) << "-0 + 0 is 0";
  EXPECT_FALSE(is_x([](Tensor x) { return 0 - x; }));
  EXPECT_FALSE(is_x([](Tensor x) { return x * 0; })) << "a NaN stays one";
  EXPECT_FALSE(is_x([](Tensor x) { return x / x; }));
  EXPECT_FALSE(is_x([](Tensor x) { return 1 / x; }));
}

TEST(Fold, KeepsACopyOfAVariableOnlyWhereItIsFetched) {
  GraphBuilder g;
  const Tensor w = g.variable<float>("w", {3}, zeros()), copy = w * 1, y = tanh(copy);
  const Subgraph s = fold(all_of(g, {copy.id, y.id}));
  EXPECT_TRUE(s.nodes[static_cast<std::size_t>(s.fetched[0])].is(op::mul));
  const Subgraph other = fold(all_of(g, {y.id}));
  const Node& tanh_of = other.nodes[static_cast<std::size_t>(other.fetched[0])];
  EXPECT_TRUE(other.nodes[static_cast<std::size_t>(tanh_of.inputs[0])].is(op::variable));
}

TEST(Fold, KeepsTheShapeOfABroadcast) {
  GraphBuilder g;
  const Tensor one = g.constant(1.0), x = g.placeholder<double>("x", {});
  const Tensor y = g.shaped(op::mul, {x, one}, {3, 3});
  const Subgraph s = fold(all_of(g, {y.id}));
  EXPECT_TRUE((s.nodes[static_cast<std::size_t>(s.fetched[0])].shape == Shape{3, 3}));
}

TEST(Fold, MergesFactorsOnlyIfTheProductIsANumber) {
  const auto factors = [](auto f) {
    GraphBuilder g;
    const Tensor y = f(g);
    return count(prune(fold(all_of(g, {y.id}))), op::mul);
  };
  EXPECT_EQ(factors([](GraphBuilder& g) { return g.placeholder<float>("x", {3}) * 2 * 3; }), 1);
  EXPECT_EQ(factors([](GraphBuilder& g) { return 3 * (2 * g.placeholder<float>("x", {3})); }), 1);
  EXPECT_EQ(factors([](GraphBuilder& g) { return g.placeholder<float>("x", {3}) * 1e30 * 1e30; }), 2);
  EXPECT_EQ(factors([](GraphBuilder& g) { return g.placeholder<float>("x", {3}) * 2 * 0.1; }), 1);
  EXPECT_EQ(factors([](GraphBuilder& g) { return g.placeholder<float>("x", {3}) * 1e-6 * 1e6; }), 2);
  EXPECT_EQ(factors([](GraphBuilder& g) { return g.placeholder<float>("x", {3}) * 1e-30 * 1e-30; }), 2);
  EXPECT_EQ(factors([](GraphBuilder& g) { return g.placeholder<float>("x", {3}) * 1e30 * 1e-30; }), 2)
      << "infinite between";
  EXPECT_EQ(factors([](GraphBuilder& g) { return g.placeholder<double>("x", {3}) * 0 * inf; }), 2);
  EXPECT_EQ(factors([](GraphBuilder& g) { return g.placeholder<std::int32_t>("x", {3}) * 2 * 3; }), 2);
}

// A sign and a power of two move along products and merge with other constants; none of this rounds.
TEST(Fold, MovesExactFactorsAlongProducts) {
  const auto left = [](auto f) {
    GraphBuilder g;
    const Tensor x = g.placeholder<float>("x", {3}), y = g.placeholder<float>("y", {3});
    const Subgraph s = prune(fold(all_of(g, {f(x, y).id})));
    return std::array{count(s, op::mul), count(s, op::div), count(s, op::neg)};
  };
  using Counts = std::array<int, 3>;
  EXPECT_EQ(left([](Tensor x, Tensor y) { return x * 0.5 * y * 2; }), (Counts{1, 0, 0}));
  EXPECT_EQ(left([](Tensor x, Tensor y) { return -x * y * 1.1; }), (Counts{2, 0, 0}));
  EXPECT_EQ(left([](Tensor x, Tensor y) { return -(x * 0.5 / y) * (2 * x) * 1.1; }), (Counts{2, 1, 0}));
  EXPECT_EQ(left([](Tensor x, Tensor y) { return y * (x * 0.25) * 3; }), (Counts{2, 0, 0}));
  EXPECT_EQ(left([](Tensor x, Tensor y) { return -(x * 3) * y; }), (Counts{2, 0, 0}));
  EXPECT_EQ(left([](Tensor x, Tensor y) { return x * 0.3 * y * 2; }), (Counts{3, 0, 0})) << "0.3 is not exact";
  EXPECT_EQ(left([](Tensor x, Tensor y) { return x * 0x1p-40 * y * 2; }), (Counts{3, 0, 0})) << "x y may overflow";
  EXPECT_EQ(left([](Tensor x, Tensor y) { return y / (x * 2) * 3; }), (Counts{2, 1, 0}));
  const auto shared = [](Tensor x, Tensor y) {
    const Tensor twice = x * 2;
    return twice * y + tanh(twice);
  };
  EXPECT_EQ(left(shared), (Counts{2, 0, 0})) << "twice is wanted anyway";
  const auto small = [](Tensor x, Tensor y) { return reduce_sum(x) * 2 * y; };
  EXPECT_EQ(left(small), (Counts{2, 0, 0}));
}

TEST(Fold, MovesNoFactorFromLessToMore) {
  GraphBuilder g;
  const Tensor x = g.placeholder<float>("x", {}), y = g.placeholder<float>("y", {64});
  const Subgraph s = prune(fold(all_of(g, {(x * 2 * y).id})));
  for (const Node& n : s.nodes) {
    if (n.is(op::mul) && n.shape.rank == 1) {
      EXPECT_FALSE(s.nodes[static_cast<std::size_t>(n.inputs[1])].is(op::constant));
    }
  }
}

TEST(Fold, LeavesFactorsOfWhatIsFetched) {
  GraphBuilder g;
  const Tensor x = g.placeholder<float>("x", {3}), y = g.placeholder<float>("y", {3}), twice = x * 2;
  const Subgraph s = prune(fold(all_of(g, {twice.id, (twice * y).id})));
  EXPECT_EQ(count(s, op::mul), 2);
}

// materialize_broadcasts

TEST(Modes, HowALoopReachesAnOperand) {
  constexpr Extent b = Extent::symbol(0);
  static_assert(broadcast_mode({b, 3}, {b, 3}, 1) == BroadcastMode::full &&
                broadcast_mode({b, 3}, {b, 3}, 0) == BroadcastMode::full);
  static_assert(broadcast_mode({3}, {b, 3}, 1) == BroadcastMode::row &&
                broadcast_mode({3}, {b, 3}, 0) == BroadcastMode::none);
  static_assert(broadcast_mode({b, 1}, {b, 3}, 1) == BroadcastMode::column &&
                broadcast_mode({b, 1}, {b, 3}, 2) == BroadcastMode::none);
  static_assert(broadcast_mode({1, 1}, {b, 3}, 2) == BroadcastMode::scalar &&
                broadcast_mode({}, {b, 3}, 0) == BroadcastMode::scalar);
  static_assert(broadcast_mode({b, 1, 3}, {b, 5, 3}, 1) == BroadcastMode::none && cuts_for({b, 1, 3}, {b, 5, 3}) == 0);
  static_assert(cuts_for({5, 3}, {b, 5, 3}) == 1U << 1 && cuts_for({b, 5, 1}, {b, 5, 3}) == 1U << 2);
  static_assert(cuts_for({b, 5, 3}, {b, 5, 3}) == 15U);
}

TEST(MaterializeBroadcasts, RepeatsOnlyWhatNoLoopCanReach) {
  GraphBuilder g;
  const Extent b = g.dynamic("batch");
  const Tensor x = g.placeholder<float>("x", {b, 5, 3}), row = g.placeholder<float>("row", {3});
  const Tensor column = g.placeholder<float>("column", {b, 5, 1}), middle = g.placeholder<float>("middle", {b, 1, 3});
  const auto repeats = [&](const ConstexprVector<int>& fetched) {
    return count(materialize_broadcasts(prune(all_of(g, fetched))), op::broadcast_to);
  };
  EXPECT_EQ(repeats({(x + row).id, (x + column).id}), 0);
  EXPECT_EQ(repeats({(row + column).id}), 0);
  EXPECT_EQ(repeats({(x + middle).id}), 1);
  EXPECT_EQ(repeats({(x + middle).id, (x - middle).id, (middle * x).id}), 1) << "one copy serves all";
  EXPECT_EQ(repeats({select(greater(column, 0), middle, row).id}), 3);
}

// insert_copies

TEST(KeepOverwritten, CopiesNothingInAnOrdinaryTrainingStep) {
  GraphBuilder g;
  const Tensor x = g.placeholder<float>("x", {g.dynamic("batch"), 3});
  const Tensor y = dense(tanh(dense(x, 5, "a")), 2, "b");
  const Tensor train = minimize(reduce_mean(square(y)), Adam{});
  const Subgraph s = simplify(g.graph(), ConstexprVector<int>{y.id, g["a/kernel"].id}, ConstexprVector<int>{train.id});
  EXPECT_EQ(insert_copies(s).nodes.size(), s.nodes.size());
}

TEST(KeepOverwritten, CopiesWhatIsReadBehindAnAssignment) {
  GraphBuilder g;
  const Tensor w = g.variable<float>("w", {3}, zeros());
  const Tensor flat = reshape(w, {3, 1});
  const Tensor set = g.assign(w, w * 2), late = exp(flat), again = exp(set);
  EXPECT_EQ(count(insert_copies(all_of(g, {late.id, again.id})), op::broadcast_to), 1);
  EXPECT_EQ(count(insert_copies(all_of(g, {flat.id}, {set.id})), op::broadcast_to), 1) << "a fetch reads last";
  EXPECT_EQ(count(insert_copies(prune(all_of(g, {w.id, again.id}))), op::broadcast_to), 0)
      << "of a variable: the new value";
}

// fuse

constexpr void mlp(GraphBuilder& g) {
  const Tensor x = g.placeholder<float>("x", {g.dynamic("batch"), 20}),
               y = g.placeholder<std::int32_t>("y", {g.dynamic("batch")});
  const Tensor logits = g.name("logits", dense(relu(dense(x, 16, "hidden")), 10, "out"));
  const Tensor loss = g.name("loss", sparse_softmax_cross_entropy(logits, y));
  g.name("sgd", minimize(loss, SGD{}));
}
constexpr std::size_t steps(const std::vector<std::string_view>& fetched,
                            const std::vector<std::string_view>& targets) {
  GraphBuilder g;
  mlp(g);
  ConstexprVector<int> f, t;
  for (std::string_view name : fetched) f.push_back(g[name].id);
  for (std::string_view name : targets) t.push_back(g[name].id);
  return make_plan(simplify(g.graph(), f, t)).steps.size();
}

TEST(Fuse, AnMlpIsItsKernels) {
  static_assert(steps({"logits"}, {}) == 2, "two products, with bias and relu behind them");
  static_assert(steps({"loss"}, {}) == 4, "and the losses and their mean");
  static_assert(steps({"hidden/kernel", "x"}, {}) == 0);
  // Forward: the products and the cross entropy. Backward: 1 / batch, its broadcast and the gradient of the logits; a
  // product for each weight and one for the hidden layer; a sum for each bias. The updates are fused into these. The
  // step counter.
  EXPECT_LE(steps({}, {"sgd"}), 13U);
}

TEST(Fuse, EveryInputIsMadeByAnEarlierOrTheSameGroup) {
  GraphBuilder g;
  mlp(g);
  const Subgraph s = materialize_broadcasts(
      simplify(g.graph(), ConstexprVector<int>{g["loss"].id}, ConstexprVector<int>{g["sgd"].id}));
  const Schedule schedule = fuse(s);
  for (int q = 0; q < static_cast<int>(schedule.groups.size()); ++q) {
    const Group& group = schedule.groups[static_cast<std::size_t>(q)];
    EXPECT_NE(group.cuts, 0U);
    for (int i : group.nodes) {
      for (int in : s.nodes[static_cast<std::size_t>(i)].inputs) {
        if (in >= 0) {
          EXPECT_LE(schedule.home[static_cast<std::size_t>(in)], q);
        }
      }
    }
    if (group.root < 0) continue;
    for (int in : s.nodes[static_cast<std::size_t>(group.root)].inputs) {
      if (in >= 0) {
        EXPECT_LT(schedule.home[static_cast<std::size_t>(in)], q);
      }
    }
  }
}

TEST(Fuse, AChainOfElementwiseOperationsIsOneLoop) {
  static_assert([] {
    GraphBuilder g;
    const Tensor x = g.placeholder<float>("x", {100}), y = g.placeholder<float>("y", {100});
    const Tensor z = exp(x * y + 1) / sqrt(y) - tanh(x);
    const Plan p = make_plan(simplify(g.graph(), ConstexprVector<int>{z.id}, ConstexprVector<int>{}));
    return p.steps.size() == 1 && p.slots.size() == 1 && !p.steps[0].barrier && p.steps[0].root == nullptr;
  }());
}

TEST(Fuse, AKernelThatReadsAVariableDoesNotOverwriteIt) {
  GraphBuilder g;
  const Tensor w = g.variable<float>("w", {4, 4}, zeros());
  const Tensor set = g.assign(w, matmul(w, w) + w);
  const Plan p = make_plan(simplify(g.graph(), ConstexprVector<int>{}, ConstexprVector<int>{set.id}));
  EXPECT_EQ(p.steps.size(), 2U);
  EXPECT_TRUE(p.steps[1].barrier);
}

// plan_memory

TEST(PlanMemory, ValuesTakeTurns) {
  GraphBuilder g;
  Tensor x = g.placeholder<float>("x", {8, 8});
  for (int i = 0; i < 10; ++i) x = matmul(x, x);
  const Plan p = make_plan(simplify(g.graph(), ConstexprVector<int>{x.id}, ConstexprVector<int>{}));
  EXPECT_EQ(p.steps.size(), 10U);
  EXPECT_EQ(workspace_bytes(p), 2 * 8 * 8 * 4) << "each product needs only the one before";
}

TEST(PlanMemory, FetchedValuesKeepTheirSlots) {
  GraphBuilder g;
  Tensor x = g.placeholder<float>("x", {8, 8});
  ConstexprVector<int> fetched;
  for (int i = 0; i < 5; ++i) fetched.push_back((x = matmul(x, x)).id);
  EXPECT_EQ(workspace_bytes(make_plan(simplify(g.graph(), fetched, ConstexprVector<int>{}))), 5 * 8 * 8 * 4);
}

TEST(PlanMemory, DynamicSizesArePlacedForTheDimensionsOfARun) {
  GraphBuilder g;
  const Extent batch = g.dynamic("batch");
  const Tensor x = g.placeholder<float>("x", {batch, 8}), w = g.placeholder<float>("w", {8, 16}),
               v = g.placeholder<float>("v", {16, 4});
  const Tensor y = matmul(matmul(matmul(x, w), v), g.placeholder<float>("u", {4, 2}));
  const Plan p = make_plan(simplify(g.graph(), ConstexprVector<int>{y.id}, ConstexprVector<int>{}));
  EXPECT_EQ(workspace_bytes(p, {32}), 32 * (16 + 4) * 4) << "the last product is where the first was";
  EXPECT_EQ(workspace_bytes(p, {3}), 192 + 64) << "in whole cache lines";
}

TEST(PlanMemory, AViewIsWhereItsValueIs) {
  GraphBuilder g;
  const Tensor x = g.placeholder<float>("x", {4, 4});
  const Tensor y = matmul(x, x), flat = reshape(y, {16});
  const Plan p = make_plan(simplify(g.graph(), ConstexprVector<int>{y.id, flat.id}, ConstexprVector<int>{}));
  const auto value = [&](std::size_t i) { return p.values[static_cast<std::size_t>(p.fetched[i])]; };
  EXPECT_EQ(p.steps.size(), 1U);
  EXPECT_EQ(value(0).index, value(1).index);
  EXPECT_TRUE((value(1).shape == Shape{16}));
}

// place_barriers

TEST(PlaceBarriers, OnlyWhereAStepNeedsWhatAnotherWrote) {
  GraphBuilder g;
  const Tensor x = g.placeholder<float>("x", {4, 4});
  const Tensor a = matmul(x, x), b = matmul(x, x, {.a = true, .b = false}), c = matmul(a, b);
  const Plan p = make_plan(simplify(g.graph(), ConstexprVector<int>{c.id}, ConstexprVector<int>{}));
  ASSERT_EQ(p.steps.size(), 3U);
  EXPECT_FALSE(p.steps[0].barrier);
  EXPECT_FALSE(p.steps[1].barrier);
  EXPECT_TRUE(p.steps[2].barrier);
}

TEST(PlaceBarriers, BeforeASlotIsUsedAgain) {
  GraphBuilder g;
  Tensor x = g.placeholder<float>("x", {4, 4});
  for (int i = 0; i < 3; ++i) x = matmul(x, x);
  const Plan p = make_plan(simplify(g.graph(), ConstexprVector<int>{x.id}, ConstexprVector<int>{}));
  EXPECT_TRUE(p.steps[1].barrier);
  EXPECT_TRUE(p.steps[2].barrier);
}

}  // namespace passes_test
}  // namespace crochet
