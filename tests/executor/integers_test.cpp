// SPDX-License-Identifier: Apache-2.0
// Integers, bools and conversions on the CPU executor against the Oracle; and the results for NaN, infinities and
// zeros.
#include <limits>

#include "against_oracle.hpp"

namespace crochet {
namespace integers_test {

template <class T>
constexpr void arithmetic(GraphBuilder& g, std::string_view prefix, const Extent& batch) {
  const auto named = [&](std::string_view what, Tensor t) {
    std::vector<char> name;
    for (char c : prefix) name.push_back(c);
    for (char c : what) name.push_back(c);
    g.name({name.data(), name.size()}, t);
  };
  std::vector<char> x_name;
  for (char c : prefix) x_name.push_back(c);
  const Tensor x = g.placeholder<T>({x_name.data(), x_name.size()}, {batch, 13});
  const Tensor y = x * x + 3, row = reduce_max(x, {0});
  named(" sum of", reduce_sum(x, {1}));
  named(" all of", reduce_sum(x));
  named(" greatest", row);
  named(" argmax", argmax(x));
  named(" argmax of columns", argmax(x, 0));
  named(" arithmetic", (y - x) * 2 + maximum(x, row) / minimum(y, y - 1));
  named(" select", select(greater(x, 2), y, relu(x)));
  named(" as bool", cast<bool>(x));
  named(" as float", cast<float>(x) / 2);
  named(" as double", cast<double>(x));
  named(" as int", cast<std::int32_t>(y));
  named(" as long", cast<std::int64_t>(y));
  named(" as byte", cast<std::uint8_t>(y));
  named(" from bool", cast<T>(equal(x, row)) * 3);
}

struct Integers {
  static constexpr void define(GraphBuilder& g) {
    const Extent batch = g.dynamic("batch");
    arithmetic<std::int32_t>(g, "int", batch);
    arithmetic<std::int64_t>(g, "long", batch);
    arithmetic<std::uint8_t>(g, "byte", batch);
    const Tensor x = g.placeholder<float>("x", {batch, 13});
    g.name("truncated", cast<std::int32_t>(x * 8));
    g.name("truncated to bytes", cast<std::uint8_t>(abs(x) * 128));
    g.name("rounded", cast<float>(cast<double>(x) * 0.1));
    g.name("not zero", cast<bool>(x));
    const Tensor n = g.variable<std::int64_t>("n", {}, constant_initializer(5));
    g.name("next", g.assign(n, n * 3 - 1));
  }
};

TEST(Integers, InOddSizes) {
  for (int threads : {1, 2}) {
    AgainstOracle<Integers> both(threads, 2e-6);
    for (std::int64_t batch : {1, 2, 7, 33, 501}) {
      SCOPED_TRACE(batch);
      both.run_all({batch});
    }
  }
}

struct Special {
  static constexpr std::int64_t n = 64;
  static constexpr void define(GraphBuilder& g) {
    const Tensor x = g.placeholder<float>("x", {n}), y = g.placeholder<float>("y", {n});
    g.name("add", x + y);
    g.name("mul", x * y);
    g.name("times zero", x * 0);
    g.name("div", x / y);
    g.name("maximum", maximum(x, y));
    g.name("minimum", minimum(x, y));
    g.name("equal", equal(x, y));
    g.name("not_equal", not_equal(x, y));
    g.name("less", less(x, y));
    g.name("relu", relu(x));
    g.name("abs", abs(x));
    g.name("exp", exp(x));
    g.name("log", log(x));
    g.name("sqrt", sqrt(x));
    g.name("tanh", tanh(x));
    g.name("sigmoid", sigmoid(x));
    g.name("bool", cast<bool>(x));
    g.name("sum", reduce_sum(x));
    g.name("greatest", reduce_max(reshape(x, {8, 8}), {0}));
    g.name("greatest of rows", reduce_max(reshape(x, {8, 8}), {1}));
    g.name("pooled", max_pool(reshape(x, {1, 8, 8, 1}), 2));
  }
};

TEST(Special, NanInfinityAndZeroComeOutAsIeeeSays) {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
  const float special[] = {nan, inf, -inf, 0.F, 1.F, -1.F, 2.5F, -100.F};
  std::vector<float> x, y;
  for (float a : special) {
    for (float b : special) x.push_back(a), y.push_back(b);
  }
  AgainstOracle<Special> both(1, 2e-6);
  both.oracle.feed("x", x);
  both.oracle.feed("y", y);
  [&]<class... N>(detail::List<N...>) {
    both.executor.run<Demand<Names<N...>, Names<>>>(both.workspace, feed<"x">(x), feed<"y">(y));
    both.oracle.run({N::view()...});
    ([&] { EXPECT_TRUE(agree(both.oracle[N::view()].data, both.fetched(N{}), 2e-6)) << N::view(); }(), ...);
  }(Fetchable<cpu::Executor<kernel::Tiles, Special>>{});
}

}  // namespace integers_test
}  // namespace crochet
