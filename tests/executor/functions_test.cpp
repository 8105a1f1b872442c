// SPDX-License-Identifier: Apache-2.0
// Functions, rounding, logic and activations on the CPU executor against the Oracle: float, double and integers, with
// broadcasting, sizes around the vector width, empty batches; and the results for special numbers.
#include "against_oracle.hpp"

namespace crochet {
namespace functions_test {

template <class T>
constexpr double tolerance = std::is_same_v<T, float> ? 2e-6 : 1e-13;

template <class Model, class T>
void test(std::initializer_list<std::int64_t> batches, double low = 0, double high = 0) {
  for (int threads = 1; threads <= 2; ++threads) {
    AgainstOracle<Model> both(threads, tolerance<T>);
    both.low = low, both.high = high;
    for (std::int64_t batch : batches) {
      SCOPED_TRACE("batch " + std::to_string(batch) + ", threads " + std::to_string(threads));
      both.run_all({batch});
    }
  }
}

template <class T>
struct Functions {
  static constexpr void define(GraphBuilder& g) {
    const Extent batch = g.dynamic("batch");
    const Tensor x = g.placeholder<T>("x", {batch, 19}), row = g.placeholder<T>("row", {19});
    const Tensor column = g.placeholder<T>("column", {batch, 1}), positive = abs(x);
    g.name("expm1", expm1(x * 3));
    g.name("log1p", log1p(x * 0.9));
    g.name("log2", log2(positive));
    g.name("log10", log10(positive));
    g.name("exp2", exp2(x * 4));
    g.name("rsqrt", rsqrt(positive));
    g.name("pow", pow(positive, row * 2));
    g.name("cube", pow(x, 3));
    g.name("sin", sin(x * 10));
    g.name("cos", cos(x * column * 10));
    g.name("tan", tan(x));
    g.name("asin", asin(x));
    g.name("acos", acos(x));
    g.name("atan", atan(x * 3));
    g.name("atan2", atan2(x, column));
    g.name("sinh", sinh(x));
    g.name("cosh", cosh(x));
    g.name("asinh", asinh(x * 3));
    g.name("acosh", acosh(positive + 1));
    g.name("atanh", atanh(x * 0.9));
    g.name("erf", erf(x * 2));
    g.name("erfc", erfc(x * 2));
  }
};
TEST(Functions, Float) { test<Functions<float>, float>({1, 2, 7, 0, 33}); }
TEST(Functions, Double) { test<Functions<double>, double>({1, 2, 7, 0, 33}); }

template <class T>
struct Arithmetic {
  static constexpr void define(GraphBuilder& g) {
    const Extent batch = g.dynamic("batch");
    const Tensor x = g.placeholder<T>("x", {batch, 19}), y = g.placeholder<T>("y", {batch, 19});
    const Tensor column = g.placeholder<T>("column", {batch, 1}), row = g.placeholder<T>("row", {19});
    g.name("sign", sign(x));
    g.name("floor", floor(x * 5));
    g.name("ceil", ceil(x * 5));
    g.name("round", round(x * 5));
    g.name("halves", round(floor(x * 20) / 2));
    g.name("trunc", trunc(x * 5));
    g.name("clip", clip(x, column, row));
    g.name("clip to numbers", clip(x, -0.5, 0.5));
    g.name("squared difference", squared_difference(x, row));
    g.name("reciprocal", reciprocal(x));
    g.name("maximum", maximum(x, 0.3));
    g.name("minimum", minimum(y, x));
    g.name("less_equal", less_equal(x, y));
    g.name("greater_equal", greater_equal(x, maximum(x, y)));
    g.name("and", logical_and(less(x, 0), greater(y, row)));
    g.name("or", logical_or(less(x, 0), greater(y, column)));
    g.name("xor", logical_xor(less(x, 0), greater(y, column)));
    g.name("not", logical_not(less(x, y)));
    g.name("finite", isfinite(x / floor(abs(y) * 3)));
    g.name("infinite", isinf(x / floor(abs(y) * 3)));
    g.name("no number", isnan(floor(x) / floor(y)));
    g.name("relu", relu(x));
    g.name("softplus", softplus(x * 40));
    g.name("silu", silu(x * 4));
    g.name("gelu", gelu(x * 3));
    g.name("gelu_tanh", gelu_tanh(x * 3));
    g.name("elu", elu(x * 3, 0.7));
    g.name("selu", selu(x));
    g.name("leaky_relu", leaky_relu(x));
    g.name("hard_sigmoid", hard_sigmoid(x * 5));
    g.name("softsign", softsign(x));
    g.name("d relu", gradient(reduce_sum(relu(w(g) * row) * row), w(g)));
  }
  static constexpr Tensor w(GraphBuilder& g) { return g.has("w") ? g["w"] : g.variable<T>("w", {19}, uniform(-1, 1)); }
};
TEST(Arithmetic, Float) { test<Arithmetic<float>, float>({1, 2, 7, 0, 33}); }
TEST(Arithmetic, Double) { test<Arithmetic<double>, double>({1, 2, 7, 0, 33}); }

struct Quotients {
  static constexpr void define(GraphBuilder& g) {
    const Extent n = g.dynamic("n");
    const Tensor x = g.placeholder<double>("x", {n}), y = g.placeholder<double>("y", {n});
    g.name("mod", mod(x * 7, y));
    g.name("floor_divide", floor_divide(x * 7, y));
    const Tensor i = g.placeholder<std::int32_t>("i", {n}) - 2, j = g.placeholder<std::int64_t>("j", {n}) + 1;
    g.name("mod of ints", mod(i, 3));
    g.name("by negative", floor_divide(i, -3));
    g.name("mod by negative", mod(i * 5, -3));
    g.name("of longs", mod(j * 7, j + 2) + floor_divide(-j, j + 1));
    g.name("rounded ints", round(i) + sign(i) + clip(i, -1, 1));
  }
};
TEST(Arithmetic, FloorsAsPythonDoes) { test<Quotients, double>({1, 17, 40}); }

struct Special {
  static constexpr void define(GraphBuilder& g) {
    const Tensor x = g.placeholder<float>("x", {g.dynamic("n")});
    g.name("sign", sign(x));
    g.name("floor", floor(x));
    g.name("round", round(x));
    g.name("sigmoid", sigmoid(x));
    g.name("softplus", softplus(x));
    g.name("expm1", expm1(x));
    g.name("log1p", log1p(x));
    g.name("erf", erf(x));
    g.name("erfc", erfc(x));
    g.name("sin", sin(x));
    g.name("rsqrt", rsqrt(x));
    g.name("nan", isnan(x));
    g.name("inf", isinf(x));
    g.name("finite", isfinite(x));
    g.name("clip", clip(x, -1, 1));
    g.name("relu", relu(x));
    g.name("elu", elu(x));
  }
};
TEST(Functions, OfSpecialNumbersInVectorsAndTails) {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
  const float special[] = {nan, inf, -inf, 0.F, -0.F, 1.F, -1.F, 0.5F, 2.5F, -3.5F, -1e30F, 1e30F, -100.F, 1e-40F};
  std::vector<float> x;
  for (int i = 0; i < 14 * 5 + 3; ++i) x.push_back(special[i % 14]);
  AgainstOracle<Special> both(1, 2e-6);
  both.oracle.feed("x", x);
  [&]<class... N>(detail::List<N...>) {
    both.executor.run<Demand<Names<N...>, Names<>>>(both.workspace, feed<"x">(x));
    both.oracle.run({N::view()...});
    ([&] { EXPECT_TRUE(agree(both.oracle[N::view()].data, both.fetched(N{}), 2e-6)) << N::view(); }(), ...);
  }(Fetchable<cpu::Executor<kernel::Tiles, Special>>{});
}

struct PowersOfTwo {
  static constexpr void define(GraphBuilder& g) {
    g.name("y", exp2(g.placeholder<float>("x", {g.dynamic("n")})));
    g.name("of doubles", exp2(g.placeholder<double>("doubles", {g.dynamic("n")})));
  }
};
TEST(Functions, PowersOfTwoAreAsExactWhereTheyAreLarge) {
  auto e = DeviceUnderTest{}.compile<PowersOfTwo>();
  e.initialize();
  decltype(e)::Workspace w;
  const std::vector<float> x{3, -3, 120.985733F, -100.3F, 127.99F, 0.25F};
  const std::vector<double> doubles{3, -3, 1020.3, -1000.7, 1023.99, 0.25};
  e.run<Demand<Names<Name<"y">, Name<"of doubles">>, Names<>>>(w, feed<"x">(x), feed<"doubles">(doubles));
  const auto y = e.fetch<Name<"y">>(w);
  const auto z = e.fetch<Name<"of doubles">>(w);
  for (std::size_t i = 0; i < x.size(); ++i) {
    EXPECT_NEAR(y.data()[i] / std::exp2(static_cast<double>(x[i])), 1, 5e-7) << x[i];
    EXPECT_NEAR(z.data()[i] / std::exp2(doubles[i]), 1, 1e-15) << doubles[i];
  }
}

struct HardSigmoid {
  static constexpr void define(GraphBuilder& g) {
    const Tensor w = g.variable<float>("w", {4}, zeros());
    const Tensor y = g.name("y", hard_sigmoid(g.placeholder<float>("x", {4}) + w));
    g.name("d", gradient(reduce_sum(y), w));
  }
};
// With a contracted product and sum, x / 6 + 1/2 is not 0 at -3.
TEST(Activations, HardSigmoidHasAGradientAtItsEnds) {
  auto e = DeviceUnderTest{}.compile<HardSigmoid>();
  e.initialize();
  decltype(e)::Workspace w;
  const std::vector<float> x{-3.5, -3, 3, 3.5};
  e.run<Demand<Names<Name<"y">, Name<"d">>, Names<>>>(w, Feed<Name<"x">, std::vector<float>>{x});
  const auto y = e.fetch<Name<"y">>(w), d = e.fetch<Name<"d">>(w);
  const float slope = 1.0F / 6;
  const float expected_y[] = {0, 0, 1, 1}, expected_d[] = {0, slope, slope, 0};
  for (int i = 0; i < 4; ++i) EXPECT_EQ(y.data()[i], expected_y[i]) << i;
  for (int i = 0; i < 4; ++i) EXPECT_EQ(d.data()[i], expected_d[i]) << i;
}

template <class T>
struct Floors {
  static constexpr void define(GraphBuilder& g) {
    const Extent n = g.dynamic("n");
    const Tensor a = g.placeholder<T>("a", {n}), b = g.placeholder<T>("b", {n});
    g.name("quotient", floor_divide(a, b));
    g.name("reciprocal", 1 / abs(a));
  }
};
template <class T>
void floors_of_special_numbers() {
  constexpr T inf = std::numeric_limits<T>::infinity(), most = std::numeric_limits<T>::max();
  const std::vector<T> a{-1, 1, 5, T(-0.9) * most, T(-0.), -1, 7, -7};
  const std::vector<T> b{inf, -inf, inf, T(0.6) * most, 1, -2, -2, 2};
  const std::vector<T> expected{-1, -1, 0, -2, T(-0.), 0, -4, -4};
  auto e = DeviceUnderTest{}.compile<Floors<T>>();
  e.initialize();
  typename decltype(e)::Workspace w;
  using Both = Demand<Names<Name<"quotient">, Name<"reciprocal">>, Names<>>;
  e.template run<Both>(w, Feed<Name<"a">, std::vector<T>>{a}, Feed<Name<"b">, std::vector<T>>{b});
  const auto q = e.template fetch<Name<"quotient">>(w), r = e.template fetch<Name<"reciprocal">>(w);
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(q.data()[i], expected[i]) << a[i] << " // " << b[i];
    EXPECT_EQ(std::signbit(q.data()[i]), std::signbit(expected[i])) << a[i] << " // " << b[i];
  }
  EXPECT_EQ(r.data()[4], inf) << "the magnitude of -0 is 0";
}
TEST(Arithmetic, FloorsOfSpecialNumbersAreNumpys) {
  floors_of_special_numbers<float>();
  floors_of_special_numbers<double>();
}

}  // namespace functions_test
}  // namespace crochet
