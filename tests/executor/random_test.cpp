// SPDX-License-Identifier: Apache-2.0
// Random tensors and dropout on the CPU executor: equal to the Oracle's for any number of threads, new in each run that
// draws, the same in the forward and the backward pass, and repeated when a run continues from saved variables.
#include "against_oracle.hpp"

namespace crochet {
namespace random_test {

struct Drawn {
  static constexpr void define(GraphBuilder& g) {
    const Extent batch = g.dynamic("batch");
    const Tensor x = g.placeholder<float>("x", {batch, 67});
    g.name("uniform", random_uniform<float>(g, {batch, 67}, -1, 1, "a"));
    g.name("wide uniform", random_uniform<double>(g, {batch, 33}));
    g.name("normal", random_normal<float>(g, {batch, 35}));
    g.name("wide normal", random_normal<double>(g, {batch, 35}, 2, 0.5));
    g.name("heads", random_bool(g, {batch, 3}, 0.25));
    g.name("one", random_uniform<double>(g, {}));
    g.name("dropped", dropout(x, 0.4));
    g.name("everything", dropout(x, 0) + x);
  }
};

TEST(Random, IsTheOraclesForAnyNumberOfThreads) {
  for (int threads = 1; threads <= 3; ++threads) {
    AgainstOracle<Drawn> both(threads, 1e-6);
    for (std::int64_t batch : {1, 3, 0, 17}) both.run_all({batch});
  }
}

double mean(const std::vector<double>& v) {
  double sum = 0;
  for (double x : v) sum += x;
  return sum / static_cast<double>(v.size());
}
double variance(std::vector<double> v) {
  const double m = mean(v);
  for (double& x : v) x = (x - m) * (x - m);
  return mean(v);
}

TEST(Random, HasTheMomentsItShould) {
  AgainstOracle<Drawn> both(2, 1e-6, 5);
  both.run_all({3000});  // about 10^5 draws of each: five standard errors of a mean are 0.016 deviations
  const std::vector<double> u = both.fetched(Name<"uniform">{}), z = both.fetched(Name<"normal">{});
  const std::vector<double> w = both.fetched(Name<"wide uniform">{}), n = both.fetched(Name<"wide normal">{});
  EXPECT_NEAR(mean(u), 0, 0.01);
  EXPECT_NEAR(variance(u), 1.0 / 3, 0.01);
  EXPECT_NEAR(mean(w), 0.5, 0.005);
  EXPECT_NEAR(variance(w), 1.0 / 12, 0.003);
  EXPECT_NEAR(mean(z), 0, 0.016);
  EXPECT_NEAR(variance(z), 1, 0.023);
  EXPECT_NEAR(mean(n), 2, 0.008);
  EXPECT_NEAR(variance(n), 0.25, 0.006);
  EXPECT_NEAR(mean(both.fetched(Name<"heads">{})), 0.25, 0.023);
  const std::vector<double> x = both.oracle["x"].data, y = both.fetched(Name<"dropped">{});
  int kept = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    kept += y[i] != 0 ? 1 : 0;
    EXPECT_NEAR(y[i], y[i] != 0 ? x[i] / 0.6 : 0, 1e-6);
  }
  EXPECT_NEAR(kept / static_cast<double>(x.size()), 0.6, 0.006);
}

TEST(Random, IsNewInEveryRunThatDrawsAndInNoOther) {
  AgainstOracle<Drawn> both(1, 1e-6);
  const auto draw = [&] {
    both.run(Names<Name<"uniform">>{}, Names<>{}, {3});
    return both.fetched(Name<"uniform">{});
  };
  const std::vector<double> first = draw(), second = draw();
  EXPECT_NE(first, second);
  const auto state = both.executor.variable(Name<"random_state">{});
  const std::int64_t before = state[0];
  both.run(Names<Name<"x">, Name<"everything">>{}, Names<>{}, {3});
  EXPECT_EQ(state[0], before);
  both.run(Names<Name<"normal">, Name<"heads">, Name<"dropped">>{}, Names<>{}, {3});
  EXPECT_EQ(state[0], before + 1);
  AgainstOracle<Drawn> other_seed(1, 1e-6, 2);
  other_seed.run(Names<Name<"uniform">>{}, Names<>{}, {3});
  EXPECT_NE(other_seed.fetched(Name<"uniform">{}), first);
}

/// The first random numbers of the model are noise in gradients that are accumulated over three runs.
struct Noisy {
  static constexpr void define(GraphBuilder& g) {
    const Tensor w = g.variable<double>("w", {4}, ones());
    const Tensor x = g.placeholder<double>("x", {g.dynamic("batch"), 4});
    constexpr auto add_noise = [](VariableGradients& all) {
      for (VariableGradient& v : all) {
        v.gradient = v.gradient + random_normal<double>(*v.gradient.graph, v.variable.shape(), 0, 0.01);
      }
    };
    const Tensor loss = g.name("loss", reduce_mean(square(x - w)));
    g.name("train", minimize(loss, SGD{0.1}, {.clip = add_noise, .accumulate = {.steps = 3}}));
    g.name("dropped", dropout(x, 0.5));
  }
};
TEST(Random, IsNewInEveryRunOfAnAccumulatedStep) {
  AgainstOracle<Noisy> both(1, 1e-12);
  const auto state = both.executor.variable(Name<"random_state">{});
  const std::int64_t before = state[0];
  std::set<std::vector<double>> masks;
  for (int run = 1; run <= 6; ++run) {
    both.run(Names<Name<"dropped">>{}, Names<Name<"train">>{}, {5});
    EXPECT_EQ(state[0], before + run);
    std::vector<double> mask = both.fetched(Name<"dropped">{});
    for (double& y : mask) y = y != 0 ? 1 : 0;
    masks.insert(std::move(mask));
  }
  EXPECT_EQ(masks.size(), 6U);
}

struct Net {
  static constexpr void define(GraphBuilder& g) {
    const Extent batch = g.dynamic("batch");
    const Tensor x = g.placeholder<double>("x", {batch, 9});
    const Tensor on = g.placeholder<std::int32_t>("on", {});
    const Tensor training = g.name("training", greater(on, 0));
    const Tensor h = dropout(tanh(dense(x, 21, "a")), 0.5, {.name = "h", .training = training});
    const Tensor y = g.name("y", dropout(dense(h, 21, "b"), 0.25, {.name = "y", .training = training}));
    const Tensor loss = g.name("loss", reduce_mean(square(y)));
    g.name("dy", gradient(reduce_sum(y), g["b/bias"]));
    g.name("fit", minimize(loss, Adam{.learning_rate = 0.01}));
  }
};

TEST(Dropout, TrainsAndIsSwitchedOffByAFlag) {
  AgainstOracle<Net> both(2, 1e-9);
  both.most = 2;  // the flag is 0 or 1
  for (int i = 0; i < 8; ++i) both.run(Names<Name<"loss">, Name<"dy">, Name<"y">>{}, Names<Name<"fit">>{}, {5});
}

/// Runs the network on its own feeds.
class Runs {
 public:
  using E = cpu::Executor<kernel::Tiles, Net>;
  explicit Runs(std::uint64_t seed, int threads = 1) : executor({threads, seed}) { executor.initialize(); }

  void train(int steps) {
    for (int i = 0; i < steps; ++i) run<Names<>, Names<Name<"fit">>>(1);
  }
  template <class F, class T>
  void run(std::int32_t on) {
    std::vector<double> x(27);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<double>(i % 7) - 3;
    executor.run<Demand<F, T>>(workspace, Feed<Name<"x">, std::vector<double>>{x}, Feed<Name<"on">, std::int32_t>{on});
  }
  /// All variables, concatenated.
  std::vector<double> variables() {
    std::vector<double> all;
    each([&](auto values) { all.insert(all.end(), values.begin(), values.end()); });
    return all;
  }
  void restore(const std::vector<double>& all) {
    std::size_t at = 0;
    each([&](auto values) {
      for (auto& v : values) v = static_cast<std::remove_reference_t<decltype(v)>>(all[at++]);
    });
  }

  E executor;
  E::Workspace workspace;

 private:
  template <class Visit>
  void each(Visit visit) {
    [&]<class... N>(detail::List<N...>) {
      (
          [&] {
            if constexpr (E::graph.nodes[static_cast<std::size_t>(find_node(E::graph, N::view()))].is(op::variable)) {
              visit(executor.variable(N{}));
            }
          }(),
          ...);
    }(Fetchable<E>{});
  }
};

TEST(Dropout, GoesOnExactlyWhereSavedVariablesWere) {
  Runs whole(1), first(1), second(99);
  whole.train(7);
  first.train(4);
  first.run<Names<Name<"y">>, Names<>>(0);  // an evaluation in between changes nothing
  second.restore(first.variables());
  second.train(3);
  EXPECT_EQ(whole.variables(), second.variables());
  second.train(1);
  EXPECT_NE(whole.variables(), second.variables());
}

TEST(Dropout, IsTheSameBackwards) {
  Runs net(1);
  net.run<Names<Name<"y">, Name<"dy">>, Names<>>(1);
  const auto y = net.executor.fetch<Name<"y">>(net.workspace);
  const auto dy = net.executor.fetch<Name<"dy">>(net.workspace);
  bool dropped = false, kept = false;
  for (std::size_t j = 0; j < 21; ++j) {
    double expected = 0;
    for (std::size_t i = 0; i < 3; ++i) expected += y.data()[i * 21 + j] != 0 ? 1 / 0.75 : 0;
    EXPECT_DOUBLE_EQ(dy.data()[j], expected);
    dropped = dropped || expected < 3.9;
    kept = kept || expected > 0;
  }
  EXPECT_TRUE(dropped && kept);
}

TEST(Random, RefusesWhatIsNoProbability) {
  GraphBuilder g;
  EXPECT_THROW(random_bool(g, {3}, -0.5), GraphError);
  EXPECT_THROW(random_bool(g, {3}, 1.5), GraphError);
  EXPECT_THROW(random_bool(g, {3}, NAN), GraphError);
  EXPECT_NO_THROW(random_bool(g, {3}, 0));
  EXPECT_NO_THROW(random_bool(g, {3}, 1));
}

TEST(Dropout, RefusesWhatIsNoRate) {
  GraphBuilder g;
  const Tensor x = g.placeholder<float>("x", {3});
  EXPECT_EQ(dropout(x, 0).id, x.id);
  EXPECT_THROW(dropout(x, 1), GraphError);
  EXPECT_THROW(dropout(x, -0.1), GraphError);
  EXPECT_THROW(dropout(x, 0.1, {.training = greater(reduce_sum(x), 0)}), GraphError);
}

}  // namespace random_test
}  // namespace crochet
