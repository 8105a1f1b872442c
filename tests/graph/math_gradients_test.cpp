// SPDX-License-Identifier: Apache-2.0
// Gradients of elementwise functions, activations and reductions against finite differences; and their values at a kink
// of a function or for an element 0.
#include <algorithm>
#include <limits>

#include "gradient_cases.hpp"

namespace crochet {
namespace math_gradients_test {

struct Unary {
  const char* name;
  Tensor (*apply)(Tensor);
  Range range;
};

TEST(MathGradient, OfFunctions) {
  const Unary functions[] = {
      {"expm1", expm1, {-2, 2}},
      {"exp2", exp2, {-2, 2}},
      {"log1p", log1p, {-0.8, 3}},
      {"log2", log2, {0.2, 3}},
      {"log10", log10, {0.2, 3}},
      {"rsqrt", rsqrt, {0.2, 3}},
      {"reciprocal", reciprocal, {}},
      {"sin", sin, {-4, 4}},
      {"cos", cos, {-4, 4}},
      {"tan", tan, {-1, 1}},
      {"asin", asin, {-0.9, 0.9}},
      {"acos", acos, {-0.9, 0.9}},
      {"atan", atan, {-3, 3}},
      {"sinh", sinh, {-2, 2}},
      {"cosh", cosh, {-2, 2}},
      {"asinh", asinh, {-2, 2}},
      {"acosh", acosh, {1.2, 3}},
      {"atanh", atanh, {-0.8, 0.8}},
      {"erf", erf, {-2, 2}},
      {"erfc", erfc, {-2, 2}},
      {"pow 1.7", [](Tensor x) { return pow(x, 1.7); }, {0.2, 2}},
      {"pow 2", [](Tensor x) { return pow(x, 2); }, {}},
      {"pow 3", [](Tensor x) { return pow(x, 3); }, {}},
      {"pow 0.5", [](Tensor x) { return pow(x, 0.5); }, {0.2, 2}},
      {"pow -1", [](Tensor x) { return pow(x, -1); }, {}},
      {"pow -0.5", [](Tensor x) { return pow(x, -0.5); }, {0.2, 2}},
      {"2 to the power of", [](Tensor x) { return pow(2, x); }, {}},
      {"clip", [](Tensor x) { return clip(x, -0.55, 0.45); }, {}},
      {"fraction", [](Tensor x) { return x - floor(x) + ceil(x) * x + round(x * 3) + trunc(x) * sign(x); }, {}}};
  for (const Unary& f : functions) {
    for (const Shape& shape : {Shape{}, Shape{3, 7}}) {
      check_gradients(f.name, [&](Case& c) { return f.apply(c.x(shape, f.range)); });
    }
  }
}

TEST(MathGradient, OfActivations) {
  const Unary activations[] = {{"softplus", softplus, {-4, 4}},
                               {"silu", silu, {-4, 4}},
                               {"gelu", gelu, {-3, 3}},
                               {"gelu_tanh", gelu_tanh, {-3, 3}},
                               {"elu", [](Tensor x) { return elu(x, 1.3); }, {}},
                               {"selu", selu, {}},
                               {"leaky_relu", [](Tensor x) { return leaky_relu(x); }, {}},
                               {"hard_sigmoid", [](Tensor x) { return hard_sigmoid(x * 5); }, {}},
                               {"softsign", softsign, {}}};
  for (const Unary& f : activations) {
    for (const Shape& shape : {Shape{}, Shape{3, 7}}) {
      check_gradients(f.name, [&](Case& c) { return f.apply(c.x(shape, f.range)); });
    }
  }
}

TEST(MathGradient, OfBinaryFunctionsForEveryBroadcast) {
  for (const auto& [a, b] : {std::pair{Shape{5, 3}, Shape{5, 3}}, std::pair{Shape{5, 3}, Shape{3}},
                             std::pair{Shape{}, Shape{5, 3}}, std::pair{Shape{5, 1}, Shape{1, 3}}}) {
    check_gradients("pow", [&, &a = a, &b = b](Case& c) { return pow(c.x(a, {0.3, 2}), c.x(b)); });
    check_gradients("atan2", [&, &a = a, &b = b](Case& c) { return atan2(c.x(a), c.x(b)); });
    check_gradients("squared_difference", [&, &a = a, &b = b](Case& c) { return squared_difference(c.x(a), c.x(b)); });
    check_gradients("mod", [&, &a = a, &b = b](Case& c) { return mod(c.x(a, {0.1, 0.4}), c.x(b, {0.5, 1})); });
    check_gradients("mod above", [&, &a = a, &b = b](Case& c) { return mod(c.x(a, {1.1, 1.4}), c.x(b, {0.5, 0.54})); });
    check_gradients("clip", [&, &a = a, &b = b](Case& c) {
      return clip(c.x(a), c.x(b, {-0.6, -0.3}), c.x(b, {0.3, 0.6}));
    });
  }
}

/// d sum(f(x)) / dx at given points.
std::vector<double> slopes(Tensor (*f)(Tensor), const std::vector<double>& at) {
  GraphBuilder g;
  const Tensor x = g.variable<double>("x", {static_cast<std::int64_t>(at.size())}, zeros());
  g.name("d", gradient(reduce_sum(f(x)), x));
  testing::Oracle oracle(g.graph());
  oracle.set("x", at);
  oracle.run({"d"});
  return oracle["d"].data;
}
using Slopes = std::vector<double>;

TEST(MathGradient, AtKinks) {
  EXPECT_EQ(slopes(relu, {-1, 0, 1}), (Slopes{0, 0, 1}));
  EXPECT_EQ(slopes(abs, {-1, 0, 1}), (Slopes{-1, 0, 1}));
  EXPECT_EQ(slopes([](Tensor x) { return maximum(x, 0.5); }, {0, 0.5, 1}), (Slopes{0, 1, 1}));
  EXPECT_EQ(slopes([](Tensor x) { return minimum(x, 0.5); }, {0, 0.5, 1}), (Slopes{1, 1, 0}));
  EXPECT_EQ(slopes([](Tensor x) { return clip(x, -1, 1); }, {-2, -1, 0, 1, 2}), (Slopes{0, 1, 1, 1, 0}));
  EXPECT_EQ(slopes([](Tensor x) { return elu(x); }, {0, 2}), (Slopes{1, 1}));
  EXPECT_EQ(slopes([](Tensor x) { return leaky_relu(x, 0.25); }, {-1, 0, 1}), (Slopes{0.25, 0.25, 1}));
  EXPECT_EQ(slopes(softplus, {0}), (Slopes{0.5}));
  EXPECT_EQ(slopes(softsign, {0}), (Slopes{1}));
  EXPECT_EQ(slopes(hard_sigmoid, {-4, -3, 3, 4}), (Slopes{0, 1.0 / 6, 1.0 / 6, 0}));
}

TEST(MathGradient, OfPowersAtZero) {
  EXPECT_EQ(slopes([](Tensor x) { return pow(x, x.graph->constant<double>(0)); }, {0, 2}), (Slopes{0, 0}));
  EXPECT_EQ(slopes([](Tensor x) { return pow(x.graph->constant<double>(0), x); }, {1, 2}), (Slopes{0, 0}));
  EXPECT_EQ(slopes([](Tensor x) { return pow(x.graph->constant<double>(-2), x); }, {2}), (Slopes{0}));
  EXPECT_EQ(slopes([](Tensor x) { return pow(x.graph->constant<double>(0), x); }, {-1}), (Slopes{0}));
  EXPECT_EQ(slopes([](Tensor x) { return pow(x.graph->constant<double>(-2), x); }, {0.5}), (Slopes{0}));
}

TEST(MathGradient, DoesNotOverflowFarOut) {
  for (double d : slopes([](Tensor x) { return elu(x) + softplus(x) + silu(x) + gelu(x) + gelu_tanh(x) + selu(x); },
                         {-1e4, -800, 800, 1e4})) {
    EXPECT_TRUE(std::isfinite(d)) << d;
  }
}

TEST(MathGradient, OfReductions) {
  using Reduce = Tensor (*)(Tensor, std::initializer_list<int>, KeepDims);
  for (const Reduce reduce : {static_cast<Reduce>(reduce_min), static_cast<Reduce>(reduce_prod),
                              static_cast<Reduce>(reduce_variance), static_cast<Reduce>(reduce_std)}) {
    for (const KeepDims keep : {KeepDims{false}, KeepDims{true}}) {
      check_gradients("rank 1", [&](Case& c) { return reduce(c.x({7}), {0}, keep); });
      check_gradients("axis 0", [&](Case& c) { return reduce(c.x({5, 3}), {0}, keep); });
      check_gradients("axis -1", [&](Case& c) { return reduce(c.x({5, 3}), {-1}, keep); });
      check_gradients("both", [&](Case& c) { return reduce(c.x({5, 3}), {0, 1}, keep); });
      check_gradients("0 and 2 of 3", [&](Case& c) { return reshape(reduce(c.x({2, 5, 3}), {0, 2}, keep), {5}); });
    }
  }
}

TEST(MathGradient, OfAnExtremumIsSharedAmongTies) {
  const auto apart = [](Tensor x) { return reduce_max(reshape(x, {2, 1, 2}), {0, 2}); };
  EXPECT_EQ(slopes(apart, {1, 1, 1, 0}), (Slopes{1.0 / 3, 1.0 / 3, 1.0 / 3, 0}));
  const auto kept = [](Tensor x) { return reduce_min(reshape(x, {2, 1, 2}), {0, 2}, keep_dims); };
  EXPECT_EQ(slopes(kept, {0, 1, 0, 0}), (Slopes{1.0 / 3, 0, 1.0 / 3, 1.0 / 3}));
  GraphBuilder g;
  const Tensor x = g.variable<double>("x", {2, 3, 4, 5}, zeros());
  EXPECT_EQ(reduce_max(x, {0, 2}).shape(), (Shape{3, 5}));
  EXPECT_EQ(reduce_max(x, {1, 3}, keep_dims).shape(), (Shape{2, 1, 4, 1}));
}

TEST(MathGradient, OfAProductWithZeros) {
  const auto product = [](Tensor x) { return reduce_prod(x); };
  EXPECT_EQ(slopes(product, {2, 3, 4}), (Slopes{12, 8, 6}));
  EXPECT_EQ(slopes(product, {2, 0, 4}), (Slopes{0, 8, 0}));
  EXPECT_EQ(slopes(product, {2, 0, 0}), (Slopes{0, 0, 0}));
}

TEST(MathGradient, OfStepsAloneIsNone) {
  GraphBuilder g;
  const Tensor w = g.variable<double>("w", {3}, zeros());
  EXPECT_THROW(gradient(reduce_sum(floor(w)), w), GraphError);
  EXPECT_THROW(gradient(reduce_sum(cast<double>(less_equal(w, 1))), w), GraphError);
}

}  // namespace math_gradients_test
}  // namespace crochet
