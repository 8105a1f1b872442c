// SPDX-License-Identifier: Apache-2.0
// Every gradient rule against finite differences in double, on odd shapes and with broadcasting in every direction. The
// Oracle computes both sides, so this test covers only the rules and the backward sweep.
#include "../gradient_cases.hpp"

namespace crochet {
namespace gradients_test {

constexpr double tolerance = gradient_tolerance;
constexpr auto check = check_gradients;

struct Unary {
  const char* name;
  Tensor (*apply)(Tensor);
  Range range;
};

class UnaryGradient : public ::testing::TestWithParam<Unary> {};

TEST_P(UnaryGradient, IsTheDifferenceQuotient) {
  const Unary& op = GetParam();
  for (const Shape& shape : {Shape{}, Shape{1}, Shape{17}, Shape{3, 7}, Shape{5, 1}}) {
    check(op.name, [&](Case& c) { return op.apply(c.x(shape, op.range)); });
  }
}

INSTANTIATE_TEST_SUITE_P(
    Ops, UnaryGradient,
    ::testing::Values(Unary{"neg", [](Tensor x) { return -x; }, {}}, Unary{"square", square, {}}, Unary{"abs", abs, {}},
                      Unary{"relu", relu, {}}, Unary{"exp", exp, {}}, Unary{"log", log, {0.2, 3}},
                      Unary{"sqrt", sqrt, {0.2, 3}}, Unary{"tanh", tanh, {-2, 2}}, Unary{"sigmoid", sigmoid, {-2, 2}},
                      Unary{"to float and back", [](Tensor x) { return cast<double>(cast<float>(x)); }, {}},
                      Unary{"assign", [](Tensor x) { return x.graph->assign(x, x * 1) * 2; }, {}},
                      Unary{"with a number", [](Tensor x) { return 3 - (2 + 4 / x) * 5; }, {0.5, 2}}),
    [](const auto& info) {
      std::string name = info.param.name;
      std::replace(name.begin(), name.end(), ' ', '_');
      return name;
    });

struct Binary {
  const char* name;
  Tensor (*apply)(Tensor, Tensor);
};

class BinaryGradient : public ::testing::TestWithParam<Binary> {};

TEST_P(BinaryGradient, IsTheDifferenceQuotientForEveryBroadcast) {
  const Binary& op = GetParam();
  const std::pair<Shape, Shape> shapes[] = {
      {{5, 3}, {5, 3}}, {{5, 3}, {3}},    {{3}, {5, 3}},       {{5, 3}, {5, 1}}, {{5, 1}, {5, 3}},   {{5, 3}, {}},
      {{}, {5, 3}},     {{5, 3}, {1, 1}}, {{5, 1}, {1, 3}},    {{1, 3}, {5, 1}}, {{5, 1}, {3}},      {{7}, {7}},
      {{7}, {1}},       {{}, {}},         {{2, 1, 3}, {5, 1}}, {{1}, {2, 5, 3}}, {{2, 5, 3}, {5, 1}}};
  for (const auto& [a, b] : shapes) {
    check(op.name, [&, &a = a, &b = b](Case& c) { return op.apply(c.x(a), c.x(b)); });
  }
}

// Rank 3 has no separate row and column upstream: weigh() takes axis 0 and the last.
INSTANTIATE_TEST_SUITE_P(
    Ops, BinaryGradient,
    ::testing::Values(Binary{"add", [](Tensor a, Tensor b) { return a + b; }},
                      Binary{"sub", [](Tensor a, Tensor b) { return a - b; }},
                      Binary{"mul", [](Tensor a, Tensor b) { return a * b; }},
                      Binary{"div", [](Tensor a, Tensor b) { return a / b; }}, Binary{"maximum", maximum},
                      Binary{"minimum", minimum},
                      Binary{"select", [](Tensor a, Tensor b) { return select(greater(a, 0), a, b); }},
                      Binary{"select by the second", [](Tensor a, Tensor b) { return select(less(b, 0), a, b * 2); }}),
    [](const auto& info) {
      std::string name = info.param.name;
      std::replace(name.begin(), name.end(), ' ', '_');
      return name;
    });

TEST(Gradient, OfASelectWithASmallerCondition) {
  for (const Shape& condition : {Shape{}, Shape{3}, Shape{5, 1}, Shape{5, 3}}) {
    check("select", [&](Case& c) { return select(greater(c.fixed(condition), 0), c.x({5, 3}), c.x({3})); });
    check("select", [&](Case& c) { return select(greater(c.fixed(condition), 0), c.x({}), c.x({5, 3})); });
  }
}

TEST(Gradient, OfMatmulWithEitherOperandTransposed) {
  for (const bool ta : {false, true}) {
    for (const bool tb : {false, true}) {
      for (const auto& [m, k, n] :
           {std::array{1, 1, 1}, std::array{5, 3, 7}, std::array{1, 17, 2}, std::array{4, 1, 3}}) {
        check("matmul", [&, m = m, k = k, n = n](Case& c) {
          return matmul(c.x(ta ? Shape{k, m} : Shape{m, k}), c.x(tb ? Shape{n, k} : Shape{k, n}), {.a = ta, .b = tb});
        });
      }
    }
  }
}

TEST(Gradient, OfManyProducts) {
  const std::pair<Shape, Shape> batches[] = {{{2}, {2}}, {{2, 3}, {3}}, {{2, 1}, {1, 3}},   {{}, {3}},
                                             {{3}, {}},  {{1}, {1}},    {{2, 1, 2}, {2, 2}}};
  const auto with = [](Shape batch, std::int64_t rows, std::int64_t columns) {
    batch.push_back(rows);
    batch.push_back(columns);
    return batch;
  };
  for (const auto& [left, right] : batches) {
    for (const int t : {0, 1, 2, 3}) {
      check("matmul", [&, &left = left, &right = right](Case& c) {
        const bool ta = (t & 1) != 0, tb = (t & 2) != 0;
        const Tensor a = c.x(ta ? with(left, 3, 2) : with(left, 2, 3)),
                     b = c.x(tb ? with(right, 5, 3) : with(right, 3, 5));
        const Tensor y = matmul(a, b, {.a = ta, .b = tb});
        return reshape(y, {rest, 5});
      });
    }
  }
}

TEST(Gradient, OfAProductWithItself) {
  check("x x^T", [](Case& c) {
    const Tensor x = c.x({5, 3});
    return matmul(x, x, {.a = false, .b = true});
  });
}

TEST(Gradient, OfReductionsOverEveryAxis) {
  using Reduce = Tensor (*)(Tensor, std::initializer_list<int>, KeepDims);
  for (const Reduce reduce :
       {static_cast<Reduce>(reduce_sum), static_cast<Reduce>(reduce_mean), static_cast<Reduce>(reduce_max)}) {
    for (const KeepDims keep : {KeepDims{false}, KeepDims{true}}) {
      check("rank 1", [&](Case& c) { return reduce(c.x({7}), {0}, keep); });
      check("axis 0", [&](Case& c) { return reduce(c.x({5, 3}), {0}, keep); });
      check("axis -1", [&](Case& c) { return reduce(c.x({5, 3}), {-1}, keep); });
      check("both", [&](Case& c) { return reduce(c.x({5, 3}), {0, 1}, keep); });
      check("0 and 2 of 3", [&](Case& c) { return reshape(reduce(c.x({2, 5, 3}), {0, 2}, keep), {5}); });
      check("1 of 3", [&](Case& c) { return reshape(reduce(c.x({2, 5, 3}), {1}, keep), {2, 3}); });
      check("one element", [&](Case& c) { return reduce(c.x({1, 1}), {0}, keep); });
      check("none", [&](Case& c) { return reduce(c.x({5, 3}), {}, keep); });
    }
  }
}

TEST(Gradient, OfAMaximumIsSharedByTies) {
  GraphBuilder g;
  const Tensor x = g.variable<double>("x", {5}, zeros());
  g.name("d", gradient(reduce_max(x), x));
  testing::Oracle oracle(g.graph());
  oracle.set("x", std::vector<double>{1, 3, 2, 3, 3});
  oracle.run({"d"});
  EXPECT_EQ(oracle["d"].data, (std::vector<double>{0, 1.0 / 3, 0, 1.0 / 3, 1.0 / 3}));
}

TEST(Gradient, OfReshapeAndBroadcastTo) {
  check("reshape", [](Case& c) { return reshape(c.x({6, 5}), {10, 3}); });
  check("flatten", [](Case& c) { return flatten(c.x({3, 5, 2})); });
  check("broadcast_to", [](Case& c) { return broadcast_to(c.x({3}), {5, 3}); });
  check("broadcast_to", [](Case& c) { return broadcast_to(c.x({5, 1}), {5, 3}); });
  check("broadcast_to", [](Case& c) { return broadcast_to(c.x({}), {5, 3}); });
  check("reshape and reduce", [](Case& c) { return reduce_sum(reshape(c.x({6, 5}), {2, 3, 5}), {1}); });
}

TEST(Gradient, OfCrossEntropies) {
  for (const auto& [n, classes] : {std::pair{1, 1}, std::pair{1, 5}, std::pair{7, 3}, std::pair{4, 17}}) {
    Case sparse(1), dense(2), scaled(3);
    Tensor labels = cast<std::int32_t>(sparse.fixed({n}) * (0.9 * classes));  // |label| is in 0 ... classes - 1
    labels = select(less(labels, 0), -labels, labels);
    EXPECT_LT(sparse.worst(sparse_softmax_cross_entropy(sparse.x({n, classes}, {-3, 3}), labels)), tolerance);
    const Tensor p = square(dense.fixed({n, classes}));  // the sum may differ from 1
    EXPECT_LT(dense.worst(softmax_cross_entropy(dense.x({n, classes}, {-3, 3}), p)), tolerance);
    const Tensor own = square(scaled.fixed({n, classes}));
    const Tensor each = softmax_cross_entropy(scaled.x({n, classes}), own, per_example);
    EXPECT_LT(scaled.worst(reduce_sum(each * scaled.fixed({n}))), tolerance);
  }
}

TEST(Gradient, AddsUpWhereAValueIsUsedSeveralTimes) {
  check("diamond", [](Case& c) {
    const Tensor x = c.x({5, 3}), row = c.x({3});
    const Tensor h = tanh(x * row) + row;
    return h * h + x / (2 + square(h)) - row;
  });
}

TEST(Gradient, OfTiedWeights) {
  check("tied", [](Case& c) {
    const Tensor w = c.x({4, 3}), b = c.x({3});
    const Tensor h = sigmoid(matmul(c.fixed({5, 4}), w) + b);
    return matmul(h, w, {.a = false, .b = true});
  });
}

TEST(Gradient, OfAValueBetweenVariableAndLoss) {
  GraphBuilder g;
  const Tensor w = g.variable<double>("w", {3}, zeros());
  const Tensor h = w * 2;
  g.name("d", gradient(reduce_sum(h * h), h));
  testing::Oracle oracle(g.graph());
  oracle.set("w", std::vector<double>{1, -2, 3});
  oracle.run({"d"});
  EXPECT_EQ(oracle["d"].data, (std::vector<double>{4, -8, 12}));
}

// The inputs of a recomputed value are kept values, through which the outer gradient continues.
TEST(Gradient, OfAGradientThroughCheckpoints) {
  check("gradient of checkpoints", [](Case& c) {
    const Tensor w = c.x({4, 4}), gain = c.x({4});
    Tensor h = c.fixed({3, 4});
    for (int i = 0; i < 3; ++i) h = tanh(matmul(checkpoint(tanh(h * gain)), w) + h);
    const Tensor mark = checkpoint(h);
    return gradient(reduce_mean(square(square(mark) - gain)), w) * gradient(reduce_sum(tanh(mark) * mark), gain);
  });
}

// relu_gradient has no gradient rule, and needs none: its inputs depend on no variable that is trained. The gradient
// for which the first mark is recomputed does.
TEST(Gradient, OfAGradientThroughCheckpointsBesideWhatIsNotTrained) {
  check("gradient of checkpoints", [](Case& c) {
    const Tensor w = c.x({4}), x = checkpoint(tanh(c.fixed({3, 4})));
    const Tensor scaled = tanh(w * (c.g.apply(op::relu_gradient, x, x * 2) + 1));
    return gradient(reduce_sum(square(checkpoint(tanh(scaled * w)) * w)), w);
  });
}

TEST(Gradient, CountsTheRepetitionsAlongADynamicDimension) {
  GraphBuilder g;
  const Tensor x = g.placeholder<double>("x", {g.dynamic("batch"), 2});
  const Tensor w = g.variable<double>("w", {2}, zeros());
  g.name("of sum", gradient(reduce_sum(x + w), w));
  g.name("of mean", gradient(reduce_mean(x + w), w));
  testing::Oracle oracle(g.graph());
  oracle.feed("x", std::vector<double>(14));
  oracle.run({"of sum", "of mean"});
  EXPECT_EQ(oracle["of sum"].data, (std::vector<double>{7, 7}));
  EXPECT_EQ(oracle["of mean"].data, (std::vector<double>{0.5, 0.5}));
}

TEST(Gradient, DoesNotPassToWhatIsNotTrainable) {
  GraphBuilder g;
  const Tensor fixed = g.variable<double>("fixed", {3}, zeros(), false);
  const Tensor w = g.variable<double>("w", {3}, zeros());
  const ConstexprVector<int> all = gradients(reduce_sum(w * fixed));
  EXPECT_LT(all[static_cast<std::size_t>(fixed.id)], 0);
  EXPECT_GE(all[static_cast<std::size_t>(w.id)], 0);
}

TEST(Gradient, OfIntegersAndBoolsIsNone) {
  GraphBuilder g;
  const Tensor w = g.variable<float>("w", {3}, zeros());
  EXPECT_THROW(gradient(reduce_sum(cast<float>(cast<std::int32_t>(w))), w), GraphError);
  EXPECT_THROW(gradient(reduce_sum(cast<float>(greater(w, 0))), w), GraphError);
}

TEST(Gradient, LooksAtTheVariableAsTheLossSawIt) {
  GraphBuilder g;
  const Tensor w = g.variable<double>("w", {}, zeros());
  const Tensor loss = w * w * w;
  g.name("set", g.assign(w, w + 100));
  g.name("d", gradient(loss, w));
  testing::Oracle oracle(g.graph());
  oracle.set("w", std::vector<double>{2});
  oracle.run({"set", "d"});
  EXPECT_EQ(oracle.scalar("d"), 12);
  EXPECT_EQ(oracle.scalar("w"), 102);
}

}  // namespace gradients_test
}  // namespace crochet
