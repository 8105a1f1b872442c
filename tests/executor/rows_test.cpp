// SPDX-License-Identifier: Apache-2.0
// Running sums, largest elements and elements of rows by index, and their gradients, on the CPU executor against the
// Oracle.
#include "against_oracle.hpp"

#include "../graph/gradient_cases.hpp"

namespace crochet {
namespace rows_test {

template <class T>
struct Rows {
  static constexpr void define(GraphBuilder& g) {
    const Extent batch = g.dynamic("batch");
    const Tensor x = g.placeholder<T>("x", {batch, 5, 67}), i = g.placeholder<std::int32_t>("i", {batch, 5, 3});
    g.name("0", cumulative_sum(x, 0));
    g.name("1", cumulative_sum(x, 1, {.exclusive = true}));
    g.name("2", cumulative_sum(x, -1, {.reverse = true}));
    g.name("both", cumulative_sum(x, 1, {.exclusive = true, .reverse = true}));
    g.name("fused", cumulative_sum(x * 2, 2) + 1);
    const TopK four = top_k(x, 4), all = top_k(floor(x * 5), 67), one = top_k(x, 1);
    g.name("values", four.values);
    g.name("indices", four.indices);
    g.name("sorted", all.values * 2);
    g.name("order", all.indices);
    g.name("greatest", one.values);
    g.name("by index", take_along_rows(x, i * 30 - 1));
    const Tensor y = x + g.variable<T>("a", {67}, uniform(-1, 1));
    g.name("d by index", gradient(reduce_sum(square(take_along_rows(y, i * 16))), y));
  }
};
template <class T>
void test(double tolerance) {
  for (int threads = 1; threads <= 3; ++threads) {
    AgainstOracle<Rows<T>> both(threads, tolerance);
    for (std::int64_t batch : {1, 2, 0, 7}) {
      SCOPED_TRACE("batch " + std::to_string(batch) + ", threads " + std::to_string(threads));
      both.run_all({batch});
    }
  }
}
TEST(Rows, Float) { test<float>(2e-6); }
TEST(Rows, Double) { test<double>(1e-14); }

struct Integers {
  static constexpr void define(GraphBuilder& g) {
    const Tensor x = g.placeholder<std::int64_t>("x", {g.dynamic("n"), 7});
    g.name("down", cumulative_sum(x, 0));
    g.name("values", top_k(x, 3).values);
    g.name("indices", top_k(x, 3).indices);
  }
};
TEST(Rows, IntegersWithTies) {
  AgainstOracle<Integers> both(2);
  for (std::int64_t n : {1, 5, 33}) both.run_all({n});
}

struct Special {
  static constexpr void define(GraphBuilder& g) { g.name("order", top_k(g.placeholder<float>("x", {6}), 4).indices); }
};
TEST(Rows, NanIsTheGreatest) {
  const float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
  const std::vector<float> x{1, nan, inf, -inf, nan, 2};
  cpu::Executor<kernel::Tiles, Special> executor({1, 1});
  cpu::Executor<kernel::Tiles, Special>::Workspace w;
  executor.run<Demand<Names<Name<"order">>, Names<>>>(w, feed<"x">(x));
  EXPECT_EQ(elements(executor.fetch<Name<"order">>(w)), (std::vector<double>{1, 4, 2, 5}));
}

TEST(Rows, Gradients) {
  for (const Cumulative how :
       {Cumulative{}, Cumulative{.exclusive = true}, Cumulative{.reverse = true}, Cumulative{true, true}}) {
    check_gradients("rank 1", [&](Case& c) { return cumulative_sum(c.x({7}), 0, how); });
    check_gradients("axis 0", [&](Case& c) { return cumulative_sum(c.x({5, 3}), 0, how); });
    check_gradients("axis -1", [&](Case& c) { return cumulative_sum(c.x({5, 3}), -1, how); });
  }
  check_gradients("top_k", [](Case& c) { return top_k(c.x({5, 7}), 3).values; });
  check_gradients("top_k of a product", [](Case& c) { return top_k(c.x({5, 7}) * c.x({7}), 7).values; });
  check_gradients("twice the same", [](Case& c) {
    const Tensor x = c.x({5, 7});
    return take_along_rows(x, top_k(x, 1).indices) * take_along_rows(x, top_k(x, 1).indices);
  });
}

}  // namespace rows_test
}  // namespace crochet
