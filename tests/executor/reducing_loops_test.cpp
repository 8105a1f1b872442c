// SPDX-License-Identifier: Apache-2.0
// Loops with reductions, against the Oracle: to one value, along rows, down columns, several at once, with operands of
// every kind, for sizes around a block's and 1 to 4 threads. And their form in the plan.
#include "against_oracle.hpp"

namespace crochet {
namespace reducing_loops_test {

template <class T, std::int64_t N>
struct Reductions {
  static constexpr void define(GraphBuilder& g) {
    const Extent batch = g.dynamic("batch");
    const Tensor x = g.placeholder<T>("x", {batch, N}), y = g.placeholder<T>("y", {batch, N});
    const Tensor row = g.placeholder<T>("row", {N}), column = g.placeholder<T>("column", {batch, 1});
    const Tensor z = x * y + row - column;
    g.name("all", reduce_sum(z * 2));
    g.name("of x", reduce_sum(x));
    g.name("columns", reduce_sum(z - x, {0}));
    g.name("columns kept", reduce_max(z + y, {0}, keep_dims));
    g.name("rows", reduce_sum(z * x, {1}));
    g.name("rows kept", reduce_max(x - column, {1}, keep_dims));
    g.name("greatest", reduce_max(y - x));
    g.name("select", reduce_sum(select(greater(x, y), z, row), {0}));
    g.name("stored", z * 3);
    const Tensor centred = x - reduce_max(x * 2, {1}, keep_dims);
    g.name("after rows", reduce_sum(centred * centred) - reduce_sum(column));
  }
};

template <class T>
struct Means {
  static constexpr void define(GraphBuilder& g) {
    const Extent batch = g.dynamic("batch");
    const Tensor x = g.placeholder<T>("x", {batch, 3, 5}), row = g.placeholder<T>("row", {5});
    const Tensor y = tanh(x * row);
    g.name("mean", reduce_mean(y));
    g.name("of rows", reduce_mean(y, {1, 2}));
    g.name("of columns", reduce_mean(y, {0}));
    g.name("of the middle", reduce_mean(y, {1}));
    g.name("of pairs", reduce_mean(y, {0, 1}, keep_dims));
    g.name("mean square", reduce_mean(square(y - reduce_mean(y))));
  }
};

template <class Model>
void test(double tolerance, std::initializer_list<std::int64_t> batches) {
  for (int threads = 1; threads <= 4; ++threads) {
    AgainstOracle<Model> both(threads, tolerance);
    for (std::int64_t batch : batches) {
      SCOPED_TRACE("batch " + std::to_string(batch) + ", threads " + std::to_string(threads));
      both.run_all({batch});
    }
  }
}

TEST(ReducingLoops, FloatInRowsOf17) { test<Reductions<float, 17>>(3e-6, {1, 2, 7, 0, 37, 2503}); }
TEST(ReducingLoops, FloatInRowsOf37) { test<Reductions<float, 37>>(3e-6, {1, 2, 7, 0, 37, 1203}); }
TEST(ReducingLoops, FloatInLongRows) { test<Reductions<float, 301>>(5e-6, {1, 3, 0, 211}); }
TEST(ReducingLoops, OneColumn) { test<Reductions<float, 1>>(3e-6, {1, 2, 31, 0, 5003}); }
TEST(ReducingLoops, Double) { test<Reductions<double, 64>>(1e-12, {1, 5, 0, 1021}); }
TEST(ReducingLoops, Integers) { test<Reductions<std::int32_t, 17>>(0, {1, 7, 2503}); }
TEST(ReducingLoops, Means) {
  test<Means<float>>(3e-6, {1, 2, 9, 1031});
  test<Means<double>>(1e-12, {1, 2, 9, 1031});
}

/// Unfetched values are not stored, so the programs differ.
TEST(ReducingLoops, OneResultAlone) {  // rows that do not fill the last register
  for (int threads = 1; threads <= 3; ++threads) {
    AgainstOracle<Reductions<float, 17>> both(threads, 3e-6);
    for (std::int64_t batch : {1, 3, 0, 2503}) {
      both.run(Names<Name<"all">>{}, Names<>{}, {batch});
      both.run(Names<Name<"rows">>{}, Names<>{}, {batch});
      both.run(Names<Name<"columns">, Name<"columns kept">>{}, Names<>{}, {batch});
    }
  }
}

struct NoColumns {
  static constexpr void define(GraphBuilder& g) {
    const Tensor x = g.placeholder<float>("x", {g.dynamic("batch"), 0});
    g.name("sums", reduce_sum(square(x) + 1, {0}) + 1);
    g.name("rows", reduce_sum(square(x) + 1, {1}) + 1);
  }
};
TEST(ReducingLoops, OfNoColumns) { test<NoColumns>(0, {1, 7, 0}); }

struct Long {
  static constexpr void define(GraphBuilder& g) {
    const Tensor x = g.placeholder<float>("x", {g.dynamic("batch"), 1000});
    g.name("sum", reduce_sum(x * 1 + 1000));
    g.name("sums", reduce_sum(x - 1000, {0}));
  }
};
TEST(ReducingLoops, LongSumsKeepTheirDigits) { test<Long>(2e-7, {1, 4001}); }

/// Item regions: their loops reduce within an item, over all items, and to columns, while items are processed in
/// slices.
struct Items {
  static constexpr void define(GraphBuilder& g) {
    const Extent batch = g.dynamic("batch");
    const Tensor x = g.placeholder<double>("x", {batch, 20, 9});
    const Tensor w = g.variable<double>("w", {9, 37}, uniform(-1, 1)),
                 v = g.variable<double>("v", {37, 5}, uniform(-1, 1));
    const Tensor h = matmul(reshape(x, {batch * 20, 9}), w);
    const Tensor y = tanh(reshape(h, {batch, 20 * 37})) * 2;
    g.name("columns", reduce_sum(y, {0}));
    g.name("rows", reduce_sum(y, {1}));
    g.name("mean", reduce_mean(y));
    g.name("after", matmul(reshape(y, {batch * 20, 37}), v));
  }
};
TEST(ReducingLoops, InItemRegions) {
  for (int threads = 1; threads <= 3; ++threads) {
    AgainstOracle<Items> both(threads, 1e-11);
    for (std::int64_t batch : {7, 1, 2, 40, 301}) {
      SCOPED_TRACE("batch " + std::to_string(batch) + ", threads " + std::to_string(threads));
      both.run(Names<Name<"columns">, Name<"rows">, Name<"mean">, Name<"after">>{}, Names<>{}, {batch});
      both.run(Names<Name<"mean">, Name<"after">>{}, Names<>{}, {batch});
    }
  }
}

/// Twelve operations, their mean, and the gradient of the mean.
struct Chain {
  static constexpr void define(GraphBuilder& g) {
    const Tensor x = g.variable<float>("x", {1000}, uniform(-2, 2));
    const Tensor t = tanh(x * 1.1 + 0.3);
    const Tensor e = exp(-sqrt(t * t + 1.0));
    const Tensor loss = g.name("loss", reduce_mean(sigmoid(relu(e * x) - 0.1)));
    g.name("gradient", gradient(loss, x));
  }
};
TEST(ReducingLoops, AChainAndItsGradientAreOneStepThatStoresTheGradient) {
  using E = cpu::Executor<kernel::Tiles, Chain>;
  static constexpr const auto& both = E::plan_of<Demand<Names<Name<"loss">, Name<"gradient">>, Names<>>>::plan;
  static constexpr const auto& value = E::plan_of<Demand<Names<Name<"loss">>, Names<>>>::plan;
  static_assert(both.step_count == 1 && both.reduction_buffer_count == 1 && both.slot_count == 2);
  static_assert(value.step_count == 1 && value.reduction_buffer_count == 1 && value.slot_count == 1);
  AgainstOracle<Chain> run(2, 1e-5);
  run.run(Names<Name<"loss">, Name<"gradient">>{}, Names<>{}, {});
}

TEST(ReducingLoops, TheSameOnEveryRun) {
  for (int threads = 1; threads <= 4; ++threads) {
    AgainstOracle<Reductions<float, 17>> both(threads, 3e-6);
    both.run(Names<Name<"all">, Name<"columns">>{}, Names<>{}, {2503});
    const auto first = both.fetched(Name<"all">{}), columns = both.fetched(Name<"columns">{});
    Demand<Names<Name<"all">, Name<"columns">>, Names<>>* demand = nullptr;
    for (int i = 0; i < 50; ++i) {
      both.run_again(demand);
      ASSERT_EQ(both.fetched(Name<"all">{}), first);
      ASSERT_EQ(both.fetched(Name<"columns">{}), columns);
    }
  }
}

}  // namespace reducing_loops_test
}  // namespace crochet
