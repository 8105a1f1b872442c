// SPDX-License-Identifier: Apache-2.0
// Plans against the Oracle: small graphs that are hard to order, and a few thousand random ones. The tests compare all
// fetched values and all variables after the step.
#include <gtest/gtest.h>
#include <crochet/model.hpp>

#include "../plan_check.hpp"

namespace crochet {
namespace plan_test {

constexpr Dims dims{3, 5, 1, 1};

std::string check(const Graph& graph, const std::vector<std::string_view>& fetched,
                  const std::vector<std::string_view>& targets) {
  return check_plan(graph, dims, fetched, targets);
}

/// The same for the graph that `build` creates.
template <class Build>
std::string run(const std::vector<std::string_view>& fetched, const std::vector<std::string_view>& targets,
                Build build) {
  GraphBuilder g;
  build(g);
  return check(g.graph(), fetched, targets);
}

// In each of these graphs a wrong order reads a variable at the wrong time.

TEST(Plan, AReaderOfTheOldValueComesBeforeTheAssignment) {
  EXPECT_EQ(run({"y"}, {"set"},
                [](GraphBuilder& g) {
                  const Tensor w = g.variable<double>("w", {4}, zeros());
                  g.name("y", matmul(reshape(w, {1, 4}), g.placeholder<double>("x", {4, 4})));
                  g.name("set", g.assign(w, w * 2));
                }),
            "");
}

TEST(Plan, AFetchedReaderOfTheOldValueThatIsAlsoReadInALoop) {
  EXPECT_EQ(run({"y", "z"}, {"set"},
                [](GraphBuilder& g) {
                  const Tensor w = g.variable<double>("w", {4, 4}, zeros()), x = g.placeholder<double>("x", {4, 4});
                  const Tensor y = g.name("y", w * 3);
                  g.name("z", matmul(x, x) + y);
                  g.name("set", g.assign(w, w * 2));
                }),
            "");
}

TEST(Plan, AFetchedReaderOfTheOldValueThatNothingElseReads) {
  EXPECT_EQ(run({"y"}, {"set"},
                [](GraphBuilder& g) {
                  const Tensor w = g.variable<double>("w", {4, 4}, zeros());
                  g.name("y", tanh(w * 3));
                  g.name("set", g.assign(w, w * 2));
                }),
            "");
}

TEST(Plan, ReadersBeforeAndAfterAnAssignment) {
  EXPECT_EQ(run({"before", "after", "w"}, {},
                [](GraphBuilder& g) {
                  const Tensor w = g.variable<double>("w", {4}, zeros());
                  g.name("before", w * 3);
                  g.assign(w, w + 1);
                  g.name("after", w * 3);
                }),
            "");
}

TEST(Plan, AGradientLooksAtTheValueBeforeTheAssignment) {
  EXPECT_EQ(
      run({"loss"}, {"train a", "train b"},
          [](GraphBuilder& g) {
            const Tensor x = g.placeholder<double>("x", {g.dynamic("batch"), 4});
            const Tensor a = g.variable<double>("a", {4, 4}, zeros()), b = g.variable<double>("b", {4, 4}, zeros());
            const Tensor loss = g.name("loss", reduce_mean(square(matmul(tanh(matmul(x, a)), b))));
            g.name("train a", minimize(loss, SGD{0.1}, {.scope = "a"}));
            g.name("train b", minimize(loss, SGD{0.1}, {.scope = "b", .count_step = false}));
          }),
      "");
}

TEST(Plan, TwoOptimizersOnTheSameWeights) {
  EXPECT_EQ(run({}, {"first", "second"},
                [](GraphBuilder& g) {
                  const Tensor x = g.placeholder<double>("x", {g.dynamic("batch"), 4});
                  const Tensor w = g.variable<double>("w", {4, 4}, zeros());
                  const Tensor loss = reduce_mean(square(matmul(tanh(matmul(x, w)), w)));
                  g.name("first", minimize(loss, SGD{0.1}));
                  g.name("second", minimize(loss, SGD{0.2}));
                }),
            "");
}

TEST(Plan, TheLaterOfTwoAssignmentsWins) {
  EXPECT_EQ(run({"w"}, {"first", "second"},
                [](GraphBuilder& g) {
                  const Tensor x = g.placeholder<double>("x", {4, 4});
                  const Tensor w = g.variable<double>("w", {4, 4}, zeros()), early = matmul(x, x);
                  g.name("first", g.assign(w, matmul(matmul(x, early), x)));
                  g.name("second", g.assign(w, early + 1));
                }),
            "");
}

TEST(Plan, AnAssignedValueOutlivesTheNextAssignment) {
  EXPECT_EQ(run({"first", "sum", "w"}, {},
                [](GraphBuilder& g) {
                  const Tensor w = g.variable<double>("w", {4}, zeros());
                  const Tensor first = g.name("first", g.assign(w, w + 1));
                  g.name("sum", g.assign(w, w * 2) + first);
                }),
            "");
}

TEST(Plan, AViewOfAVariableIsItsValueWhenTheViewWasMade) {
  EXPECT_EQ(run({"flat", "y"}, {"set"},
                [](GraphBuilder& g) {
                  const Tensor w = g.variable<double>("w", {4, 4}, zeros());
                  const Tensor flat = g.name("flat", reshape(w, {16}));
                  g.name("set", g.assign(w, w * 2));
                  g.name("y", reduce_sum(flat * 3));
                }),
            "");
}

TEST(Plan, AVariableThatIsReadAsARowAndWrittenInTheSameStep) {
  EXPECT_EQ(run({"y"}, {"set"},
                [](GraphBuilder& g) {
                  const Tensor w = g.variable<double>("w", {1, 4}, zeros()),
                               x = g.placeholder<double>("x", {g.dynamic("batch"), 4});
                  const Tensor y = g.name("y", tanh(x + w));
                  g.name("set", g.assign(w, reduce_mean(y, {0}, keep_dims) * w));
                }),
            "");
}

TEST(Plan, ConstantsAndSourcesCanBeFetched) {
  EXPECT_EQ(run({"one", "x", "w", "one again", "row"}, {},
                [](GraphBuilder& g) {
                  g.placeholder<double>("x", {4});
                  g.variable<double>("w", {4}, zeros());
                  const Tensor one = g.name("one", g.constant(1.0));
                  g.name("one again", reshape(one, {1}));
                  g.name("row", broadcast_to(one, {4}));
                }),
            "");
}

TEST(Plan, ATargetWithoutEffectIsNoStep) {
  GraphBuilder g;
  const Tensor w = g.variable<double>("w", {4}, zeros());
  const Tensor y = w * 3;
  EXPECT_EQ(Stages(g.graph(), {}, {y.id}).plan.steps.size(), 0U);
}

TEST(Plan, SwapsTwoVariables) {
  EXPECT_EQ(run({"a", "b"}, {"set a", "set b"},
                [](GraphBuilder& g) {
                  const Tensor a = g.variable<double>("a", {4}, zeros()), b = g.variable<double>("b", {4}, zeros());
                  const Tensor old = a * 1.5;
                  g.name("set a", g.assign(a, b * 1.5));
                  g.name("set b", g.assign(b, old));
                }),
            "");
}

// Each of these sums fits into a loop over rows and columns; the three together do not.
TEST(Plan, LoopsThatNeedDifferentRowsAndColumns) {
  const auto sum = [](GraphBuilder& g, bool floating) {
    const Extent batch = g.dynamic("batch"), time = g.dynamic("time");
    const Tensor a = g.placeholder<double>("a", {batch, time, 1}), b = g.placeholder<double>("b", {time, 4});
    const Tensor x = g.placeholder<double>("x", {batch, time, 4});
    return g.name("y", tanh((floating ? x + 1 : reshape(tanh(x), x.shape())) * a) + b);
  };
  EXPECT_EQ(run({"y"}, {}, [&](GraphBuilder& g) { sum(g, true); }), "");
  EXPECT_EQ(run({"y"}, {}, [&](GraphBuilder& g) { sum(g, false); }), "");
}

// An input of a value may be computed later than the group that the value would join.
TEST(Plan, AValueIsNotReadBeforeItIsMade) {
  EXPECT_EQ(run({"z"}, {},
                [](GraphBuilder& g) {
                  const Tensor x = g.placeholder<double>("x", {4, 4});
                  const Tensor first = matmul(x, x), y = x * 2;
                  const Tensor later = matmul(y, x);
                  g.name("z", reduce_sum(first + tanh(y)) + reduce_sum(later));
                }),
            "");
}

// The step that stores `twice` comes after a step that computes it again for itself, and does not precede it.
TEST(Plan, AFetchedValueThatAnEarlierStepAlsoComputes) {
  EXPECT_EQ(run({"twice", "z"}, {},
                [](GraphBuilder& g) {
                  const Tensor x = g.placeholder<double>("x", {g.dynamic("batch"), 4, 4, 2});
                  const Tensor twice = g.name("twice", x * 2);
                  const Tensor y = relu(conv2d(x, 2, {3, 3}, "a")) + twice;
                  g.name("z", relu(conv2d(y, 2, {3, 3}, "b")) + twice);
                }),
            "");
}

// Random graphs.

/// In panels: two matrices are right operands of products, and read by updates only.
class RandomGraph {
 public:
  explicit RandomGraph(std::uint64_t seed, bool in_panels = false) : numbers_(seed), in_panels_(in_panels) {
    const Extent batch = g_.dynamic("batch"), time = g_.dynamic("time");
    for (const Shape& s : {Shape{batch, 4}, Shape{batch, time, 4}, Shape{batch}, Shape{4}, Shape{}, Shape{batch, 2, 2},
                           Shape{time, 1}}) {
      add(g_.placeholder<double>(next("x"), s));
    }
    for (const Shape& s : {Shape{4, 4}, Shape{4}, Shape{}, Shape{1, 4}, Shape{4, 4}}) {
      variables_.push_back(g_.variable<double>(next("w"), s, zeros()));
      if (in_panels && s.rank == 2 && s[0].factor == 4) {
        weights_.push_back(variables_.back());
        add(g_.placeholder<double>(next("x"), s));
      } else {
        add(variables_.back());
      }
    }
    const int n = 5 + numbers_.below(30);
    for (int i = 0; i < n; ++i) grow();
    if (numbers_.below(2) == 0) train();
  }

  std::string check() {
    std::vector<std::string_view> fetched, targets;
    for (const PooledName& p : g_.graph().names) {
      const Node& n = g_.node(p.node);
      if (n.op->kind != OpKind::group && numbers_.below(4) == 0) fetched.push_back(g_.graph().text_of(p));
      if ((n.op->kind == OpKind::group || n.op->kind == OpKind::assign) && numbers_.below(3) > 0) {
        targets.push_back(g_.graph().text_of(p));
      }
    }
    return plan_test::check(in_panels_ ? with_layouts(g_.graph()) : g_.graph(), fetched, targets);
  }
  /// Whether a variable is in panels.
  bool has_panels() const {
    for (const Node& n : with_layouts(g_.graph()).nodes) {
      if (n.layout == Layout::panels) return true;
    }
    return false;
  }

 private:
  std::string next(const char* what) { return what + std::to_string(count_++); }
  Tensor any() { return values_[static_cast<std::size_t>(numbers_.below(static_cast<int>(values_.size())))]; }
  Tensor recent() {
    const int n = static_cast<int>(values_.size()), last = n < 6 ? n : 6;
    return values_[static_cast<std::size_t>(n - 1 - numbers_.below(last))];
  }
  void add(Tensor t) { values_.push_back(t); }

  void grow() {
    try {
      const bool of_weights = in_panels_ && numbers_.below(3) == 0;
      const Tensor t = of_weights ? make_of_weights(numbers_.below(7)) : make(numbers_.below(20));
      if (t.shape().size().at(dims) > 2000) return;  // products of products grow large
      add(g_.name(next("v"), t));
    } catch (const GraphError&) {  // shapes that do not fit are skipped
    }
  }
  Tensor make(int what) {
    const Tensor a = recent(), b = any();
    switch (what) {
      case 0:
        return a + b;
      case 1:
        return a - b;
      case 2:
        return tanh(a) * b;
      case 3:
        return maximum(a, b);
      case 4:
        return tanh(a * 1.25 * 0.5);
      case 5:
        return select(greater(a, b), a, b);
      case 6:
        return matmul(tanh(a), tanh(b));
      case 7:
        return matmul(a, b, {.a = false, .b = true});
      case 8:
        return reduce_mean(a, {numbers_.below(2) - 1});
      case 9:
        return reduce_sum(tanh(a), {0}, KeepDims{numbers_.below(2) == 0});
      case 10:
        return reshape(a, numbers_.below(2) == 0 ? Shape{rest, 4} : Shape{rest, 2, 2});
      case 11:
        return reduce_max(a);
      case 12:
        return 1 - square(tanh(a)) * (b - 0);
      case 13:
        return cast<double>(cast<std::int32_t>(a * 5) / 2);
      case 14:
        return select(equal(cast<bool>(cast<std::uint8_t>(abs(a) * 2)), cast<bool>(b)), a * 3, b);
      case 15:
        return gradient(reduce_mean(square(a)), variables_[0]);
      case 16:
        return checkpoint(a);
      default:
        return assign();
    }
  }
  Tensor weight() { return weights_[static_cast<std::size_t>(numbers_.below(2))]; }
  /// A value of the shape of the weights, computed without them.
  Tensor matrix() {
    for (int i = 0; i < 20; ++i) {
      const Tensor a = any();
      if (a.shape() == weights_[0].shape()) return a;
    }
    return values_.back() * 0 + weights_[0];
  }
  Tensor make_of_weights(int what) {
    const Tensor w = weight();
    switch (what) {
      case 0:
        return matmul(recent(), w);
      case 1:
        return matmul(tanh(any()), w, {.a = false, .b = true});
      case 2:
        return g_.assign(w, w * 0.5 + weight());
      case 3:
        return g_.assign(w, w - tanh(matrix()));
      case 4:
        return reduce_sum(square(matrix()));
      case 5:
        return reduce_sum(tanh(w) * 0.5, {numbers_.below(2)});
      default:
        return tanh(matrix()) - 1;
    }
  }
  Tensor assign() {
    const Tensor w = variables_[static_cast<std::size_t>(numbers_.below(static_cast<int>(variables_.size())))];
    for (int i = 0; i < 20; ++i) {
      const Tensor value = any();
      if (value.shape() == w.shape()) return g_.assign(w, tanh(value) + 0.25);
    }
    return g_.assign(w, w * 0.5);
  }
  void train() {
    try {
      const Tensor loss = reduce_mean(square(tanh(recent())));
      const bool is_linear = numbers_.below(3) == 0;  // its gradient needs none of the values
      const Tensor other = is_linear ? reduce_sum(checkpoint(recent())) : reduce_mean(tanh(recent()));
      g_.name("train", minimize(loss, Adam{0.1}));
      g_.name("train other", minimize(other, SGD{0.1}));
    } catch (const GraphError&) {
    }
  }

  Numbers numbers_;
  GraphBuilder g_;
  bool in_panels_;
  std::vector<Tensor> values_, variables_, weights_;
  int count_ = 0;
};

TEST(Plan, OfRandomGraphsDoesWhatTheGraphSays) {
  int failures = 0;
  for (std::uint64_t seed = 1; seed <= 3000 && failures < 5; ++seed) {
    const std::string wrong = RandomGraph(seed).check();
    failures += wrong.empty() ? 0 : 1;
    EXPECT_EQ(wrong, "") << "seed " << seed;
  }
}

TEST(Plan, OfRandomGraphsInPanelsDoesWhatTheGraphSays) {
  int failures = 0, in_panels = 0;
  for (std::uint64_t seed = 1; seed <= 1500 && failures < 5; ++seed) {
    RandomGraph graph(seed, true);
    in_panels += graph.has_panels() ? 1 : 0;
    const std::string wrong = graph.check();
    failures += wrong.empty() ? 0 : 1;
    EXPECT_EQ(wrong, "") << "seed " << seed;
  }
  EXPECT_GT(in_panels, 500);
}

}  // namespace plan_test
}  // namespace crochet
