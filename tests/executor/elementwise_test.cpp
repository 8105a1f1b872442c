// SPDX-License-Identifier: Apache-2.0
// Elementwise operations on the CPU executor against the Oracle: every operation, float, double and integers, every way
// to broadcast, sizes around the vector width, and enough elements for the team to split.
#include "against_oracle.hpp"

namespace crochet {
namespace elementwise_test {

template <class T, std::int64_t N>
struct Functions {
  static constexpr void define(GraphBuilder& g) {
    const Extent batch = g.dynamic("batch");
    const Tensor x = g.placeholder<T>("x", {batch, N}), y = g.placeholder<T>("y", {batch, N});
    const Tensor row = g.placeholder<T>("row", {N}), column = g.placeholder<T>("column", {batch, 1});
    const Tensor s = g.placeholder<T>("s", {});
    g.name("add", x + row);
    g.name("sub", column - x);
    g.name("mul", x * s);
    g.name("div", row / y);
    g.name("outer", row * column);
    g.name("maximum", maximum(x, column));
    g.name("minimum", minimum(row, y));
    g.name("select", select(greater(x, y), row, s));
    g.name("select by a column", select(less(column, 0), x, y));
    g.name("equal", cast<T>(equal(x, maximum(x, y))));
    g.name("not_equal", not_equal(x, maximum(x, row)));
    g.name("less", less(x, y));
    g.name("greater", greater(x, s));
    g.name("neg", -x);
    g.name("square", square(x));
    g.name("abs", abs(x));
    g.name("relu", relu(x));
    g.name("exp", exp(x * 3));
    g.name("log", log(abs(x)));
    g.name("sqrt", sqrt(abs(y)));
    g.name("tanh", tanh(x * 2));
    g.name("sigmoid", sigmoid(x * 5));
    g.name("chain", exp(-square(x - row)) * column + tanh(y) / (1 + abs(x)) - s);
    g.name("scalars", exp(s) * 2 - 1);
  }
};

template <class T>
constexpr double tolerance = std::is_same_v<T, float> ? 2e-5 : 1e-12;

template <class T, std::int64_t N>
void test_functions(std::initializer_list<std::int64_t> batches) {
  for (int threads = 1; threads <= 3; ++threads) {
    AgainstOracle<Functions<T, N>> both(threads, tolerance<T>);
    for (std::int64_t batch : batches) {
      SCOPED_TRACE("batch " + std::to_string(batch) + ", threads " + std::to_string(threads));
      both.run_all({batch});
    }
  }
}

TEST(Elementwise, FloatInOddSizes) { test_functions<float, 17>({1, 2, 7, 0, 33, 1009}); }
TEST(Elementwise, DoubleInOddSizes) { test_functions<double, 17>({1, 2, 7, 0, 33, 1009}); }
TEST(Elementwise, OneColumn) { test_functions<float, 1>({1, 2, 31, 0, 5003}); }

/// Unfetched values stay in registers, so the programs differ from those above.
TEST(Elementwise, ASingleResultOfAChain) {
  for (int threads = 1; threads <= 3; ++threads) {
    AgainstOracle<Functions<float, 17>> both(threads, tolerance<float>);
    for (std::int64_t batch : {1, 3, 301, 0}) {
      both.run(Names<Name<"chain">, Name<"scalars">>{}, Names<>{}, {batch});
    }
  }
}

}  // namespace elementwise_test
}  // namespace crochet
