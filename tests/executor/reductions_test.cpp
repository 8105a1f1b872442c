// SPDX-License-Identifier: Apache-2.0
// Reductions on the CPU executor against the Oracle: every kind, along rows and down columns, shapes around the vector
// width and the kernels' strips, empty arrays, few results of many elements (which the team shares). Results repeat.
#include "against_oracle.hpp"

namespace crochet {
namespace reductions_test {

template <class T>
constexpr double tolerance = std::is_same_v<T, float> ? 1e-5 : 1e-12;

template <class Model, class T>
void test(std::initializer_list<std::int64_t> batches, double low = 0, double high = 0) {
  for (int threads = 1; threads <= 3; ++threads) {
    AgainstOracle<Model> both(threads, tolerance<T>);
    both.low = low, both.high = high;
    for (std::int64_t batch : batches) {
      SCOPED_TRACE("batch " + std::to_string(batch) + ", threads " + std::to_string(threads));
      both.run_all({batch});
    }
  }
}

template <class T>
struct Kinds {
  static constexpr void define(GraphBuilder& g) {
    const Tensor x = g.placeholder<T>("x", {g.dynamic("batch"), 7, 67}), near_one = 1 + x * 0.01;
    g.name("min", reduce_min(x));
    g.name("min 0", reduce_min(x, {0}));
    g.name("min 1", reduce_min(x, {1}, keep_dims));
    g.name("min 2", reduce_min(x, {2}));
    g.name("max 0 and 2", reduce_max(x, {0, 2}));
    g.name("prod 1 and 2", reduce_prod(near_one, {1, 2}) * 2);
    g.name("prod 0", reduce_prod(near_one, {0}));
    g.name("prod 1", reduce_prod(near_one, {1}));
    g.name("prod 2", reduce_prod(near_one, {2}, keep_dims));
    g.name("any", reduce_any(greater(x, 0.99)));
    g.name("any 1", reduce_any(greater(x, 0.9), {1}));
    g.name("any 2", reduce_any(greater(x, 0.99), {2}));
    g.name("all 0", reduce_all(greater(x, -0.9), {0}));
    g.name("all 2", reduce_all(greater(x, -0.99), {2}, keep_dims));
    g.name("argmin 0", argmin(x, 0));
    g.name("argmin 1", argmin(x, 1));
    g.name("argmin 2", argmin(x));
    g.name("argmax 0", argmax(x, 0));
    g.name("variance", reduce_variance(x));
    g.name("variance 1", reduce_variance(x, {1}));
    g.name("std 2", reduce_std(x, {2}, keep_dims));
  }
};
TEST(Reductions, OfEveryKindInFloat) { test<Kinds<float>, float>({1, 2, 9, 65}); }
TEST(Reductions, OfEveryKindInDouble) { test<Kinds<double>, double>({1, 2, 9, 65}); }

/// Widths around those of vectors and strips.
template <class T>
struct Widths {
  template <std::int64_t N>
  static constexpr void add(GraphBuilder& g, const Extent& rows, std::string_view in, std::string_view down,
                            std::string_view across) {
    const Tensor x = g.placeholder<T>(in, {rows, N});
    g.name(down, reduce_sum(x, {0}));
    g.name(across, reduce_mean(x, {1}));
  }
  static constexpr void define(GraphBuilder& g) {
    const Extent rows = g.dynamic("rows");
    add<1>(g, rows, "1", "1 down", "1 across");
    add<10>(g, rows, "10", "10 down", "10 across");
    add<16>(g, rows, "16", "16 down", "16 across");
    add<33>(g, rows, "33", "33 down", "33 across");
    add<64>(g, rows, "64", "64 down", "64 across");
    add<131>(g, rows, "131", "131 down", "131 across");
  }
};
TEST(Reductions, OfManyWidthsInFloat) { test<Widths<float>, float>({0, 1, 7, 8, 9, 255, 2049, 5003}); }
TEST(Reductions, OfManyWidthsInDouble) { test<Widths<double>, double>({0, 1, 7, 8, 9, 255, 2049}); }

struct Nothing {
  static constexpr void define(GraphBuilder& g) {
    const Tensor x = g.placeholder<float>("x", {g.dynamic("batch"), 5});
    g.name("min", reduce_min(x));
    g.name("min of columns", reduce_min(x, {0}));
    g.name("product", reduce_prod(x));
    g.name("product of columns", reduce_prod(x, {0}));
    g.name("any", reduce_any(greater(x, 0), {0}));
    g.name("all", reduce_all(greater(x, 0)));
    g.name("rows", reduce_prod(x, {1}));
    g.name("sum", reduce_sum(x));
    g.name("greatest", reduce_max(x));
    g.name("first of columns", argmax(x, 0));
  }
};
TEST(Reductions, OfNothing) { test<Nothing, float>({3, 0, 2}); }

struct Large {
  static constexpr void define(GraphBuilder& g) {
    const Tensor x = g.placeholder<float>("x", {g.dynamic("n")});
    g.name("sum", reduce_sum(x));
    g.name("mean", reduce_mean(x));
    g.name("greatest", reduce_max(x));
  }
};
TEST(Reductions, OfAMillionRepeatAndStayExact) {
  std::vector<float> x(1 << 20);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = 0.1F + static_cast<float>(i % 1000) * 1e-4F;
  double exact = 0;
  for (float e : x) exact += static_cast<double>(e);
  for (int threads = 1; threads <= 3; ++threads) {
    cpu::Executor<kernel::Tiles, Large> executor({threads, 1});
    cpu::Executor<kernel::Tiles, Large>::Workspace w;
    float first = 0;
    for (int repeat = 0; repeat < 3; ++repeat) {
      executor.run<Demand<Names<Name<"sum">, Name<"mean">, Name<"greatest">>, Names<>>>(w, feed<"x">(x));
      const float sum = executor.fetch<Name<"sum">>(w);
      if (repeat == 0) first = sum;
      EXPECT_EQ(sum, first);
      EXPECT_NEAR(sum, exact, exact * 1.2e-7);
      EXPECT_NEAR(executor.fetch<Name<"mean">>(w), exact / (1 << 20), 2e-8);
      EXPECT_EQ(executor.fetch<Name<"greatest">>(w), 0.1F + 999 * 1e-4F);
    }
  }
}

struct MeansOfEqualNumbers {
  static constexpr void define(GraphBuilder& g) {
    const Extent n = g.dynamic("n");
    g.name("of rows", reduce_mean(g.placeholder<double>("rows", {2, n}), {1}));
    g.name("of columns", reduce_mean(g.placeholder<double>("columns", {n, 2}), {0}));
  }
};
TEST(Reductions, TheMeanOfEqualNumbersIsTheNumber) {
  using E = ExecutorUnderTest<MeansOfEqualNumbers>;
  E executor = make_executor_under_test<MeansOfEqualNumbers>(2, 1);
  for (const std::int64_t n : {49, 98, 103, 161, 187}) {
    SCOPED_TRACE(n);
    typename E::Workspace w;
    const std::vector<double> x(static_cast<std::size_t>(2 * n), 2);
    executor.template run<Demand<Names<Name<"of rows">, Name<"of columns">>, Names<>>>(
        w, feed<"rows">(TensorView<double, 2>{x.data(), {2, n}}),
        feed<"columns">(TensorView<double, 2>{x.data(), {n, 2}}));
    EXPECT_EQ(elements(executor.template fetch<Name<"of rows">>(w)), (std::vector<double>{2, 2}));
    EXPECT_EQ(elements(executor.template fetch<Name<"of columns">>(w)), (std::vector<double>{2, 2}));
  }
}

struct Places {
  static constexpr void define(GraphBuilder& g) {
    const Tensor x = g.placeholder<float>("x", {4, 5});
    g.name("greatest of rows", argmax(x, 1));
    g.name("least of rows", argmin(x, 1));
    g.name("greatest of columns", argmax(x, 0));
    g.name("least of columns", argmin(x, 0));
  }
};
TEST(Reductions, PlacesAreTheFirstAndThoseOfNanWin) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> x{1, 3, 3, 0, 0, nan, 1, nan, 9, 1, 2, nan, 1, 7, 2, -1, -1, -1, -1, -1};
  AgainstOracle<Places> both;
  both.oracle.feed("x", x);
  both.oracle.run({"greatest of rows", "least of rows", "greatest of columns", "least of columns"});
  both.executor.run<Demand<
      Names<Name<"greatest of rows">, Name<"least of rows">, Name<"greatest of columns">, Name<"least of columns">>,
      Names<>>>(both.workspace, feed<"x">(x));
  const auto expect = [&](auto name, std::vector<double> places) {
    EXPECT_EQ(both.fetched(name), places) << name.view();
    EXPECT_EQ(both.oracle[name.view()].data, places) << name.view();
  };
  expect(Name<"greatest of rows">{}, {1, 0, 1, 0});
  expect(Name<"least of rows">{}, {3, 0, 1, 0});
  expect(Name<"greatest of columns">{}, {1, 2, 1, 1, 2});
  expect(Name<"least of columns">{}, {1, 2, 1, 3, 3});
}

}  // namespace reductions_test
}  // namespace crochet
