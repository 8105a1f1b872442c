// SPDX-License-Identifier: Apache-2.0
// GraphBuilder: names, dynamic dimensions, assignments, minimize; also in constant evaluation.
#include <cmath>

#include <gtest/gtest.h>
#include <crochet/graph/frozen.hpp>
#include <crochet/model.hpp>

namespace crochet {
namespace builder_test {

template <class Build>
std::string error_of(Build build) {
  GraphBuilder g;
  try {
    build(g);
  } catch (const GraphError& e) {
    return e.what();
  }
  return "no error";
}

TEST(Builder, EqualNamesOfDynamicDimensionsAreOneDimension) {
  GraphBuilder g;
  EXPECT_TRUE(g.dynamic("batch") == g.dynamic("batch"));
  EXPECT_FALSE(g.dynamic("batch") == g.dynamic("time"));
  EXPECT_EQ(g.graph().symbols.size(), 2U);
}

TEST(Builder, NamesLeadToValues) {
  GraphBuilder g;
  const Tensor x = g.placeholder<float>("x", {3});
  const Tensor y = g.name("y", x * 2);
  EXPECT_EQ(g["x"].id, x.id);
  EXPECT_EQ(g["y"].id, y.id);
  EXPECT_TRUE(g.has("y"));
  EXPECT_FALSE(g.has("z"));
  EXPECT_FALSE(g.has(""));
  EXPECT_EQ(g.name_of(y.id), "y");
  EXPECT_EQ(g.name_of(y.id - 1), "");  // the constant
  g.name("also y", y);
  EXPECT_EQ(g["also y"].id, y.id);
  EXPECT_EQ(g.name_of(y.id), "y") << "the first name is the one by which it is known";
}

TEST(GraphError, OfNames) {
  const std::string taken = "crochet: the name \"x\" is already taken in the graph";
  EXPECT_EQ(error_of([](GraphBuilder& g) { g.placeholder<float>("x", {}), g.placeholder<float>("x", {}); }), taken);
  EXPECT_EQ(error_of([](GraphBuilder& g) { g.name("x", g.placeholder<float>("x", {})); }), taken);
  EXPECT_EQ(error_of([](GraphBuilder& g) { g.variable<float>("x", {}, zeros()), g.name("x", g.constant(1.F)); }),
            taken);
  EXPECT_EQ(error_of([](GraphBuilder& g) { g["y"]; }), "crochet: no value of the graph has the name \"y\"");
}

TEST(GraphError, OfGraphs) {
  EXPECT_EQ(error_of([](GraphBuilder& g) {
              GraphBuilder other;
              g.constant(1.F) + other.constant(1.F);
            }),
            "crochet: the operands belong to different graphs");
  EXPECT_EQ(error_of([](GraphBuilder& g) {
              GraphBuilder other;
              g.name("x", other.constant(1.F));
            }),
            "crochet: the operands belong to different graphs");
}

TEST(GraphError, OfDimensions) {
  EXPECT_EQ(error_of([](GraphBuilder& g) { g.variable<float>("w", {g.dynamic("batch")}, zeros()); }),
            "crochet: a variable's shape must be static");
  EXPECT_EQ(
      error_of([](GraphBuilder& g) { g.dynamic("a"), g.dynamic("b"), g.dynamic("c"), g.dynamic("d"), g.dynamic("e"); }),
      "crochet: a graph has at most 4 dynamic dimensions");
  const std::string negative = "crochet: a dimension is negative: a dynamic one is g.dynamic(name)";
  EXPECT_EQ(error_of([](GraphBuilder& g) { g.placeholder<float>("x", {-1, 3}); }), negative);
  EXPECT_EQ(error_of([](GraphBuilder& g) { g.variable<float>("w", {-1}, zeros()); }), negative);
}

TEST(GraphError, OfAssignments) {
  EXPECT_EQ(error_of([](GraphBuilder& g) { g.assign(g.constant(1.F), g.constant(2.F)); }),
            "crochet: only variables can be assigned");
  EXPECT_EQ(error_of([](GraphBuilder& g) { g.assign(g.variable<float>("w", {3}, zeros()), g.constant(2.F)); }),
            "crochet: the assigned value has another shape");
  EXPECT_EQ(error_of([](GraphBuilder& g) { g.assign(g.variable<float>("w", {}, zeros()), g.constant(2.0)); }),
            "crochet: the operands' element types differ: convert with cast<T>(x)");
}

TEST(GraphError, OfMinimize) {
  EXPECT_EQ(error_of([](GraphBuilder& g) { minimize(g.variable<float>("w", {3}, zeros()), SGD{}); }),
            "crochet: the loss must be a scalar: take its mean or sum");
  const std::string none = "crochet: the loss depends on no trainable variable";
  EXPECT_EQ(error_of([](GraphBuilder& g) { minimize(g.constant(1.F), SGD{}); }), none);
  EXPECT_EQ(error_of([](GraphBuilder& g) { minimize(square(g.variable<float>("w", {}, zeros(), false)), SGD{}); }),
            none);
  EXPECT_EQ(error_of([](GraphBuilder& g) {
              minimize(square(g.variable<float>("a/w", {}, zeros())), SGD{}, {.scope = "b/"});
            }),
            none);
  EXPECT_EQ(error_of([](GraphBuilder& g) {
              const Tensor loss = square(g.variable<float>("w", {}, zeros()));
              minimize(loss, Adam{}), minimize(loss, Adam{});
            }),
            "crochet: the name \"beta1_power\" is already taken in the graph");
  EXPECT_EQ(error_of([](GraphBuilder& g) {
              const Tensor w = g.variable<float>("w", {3}, zeros());
              minimize(cast<float>(argmax(w)), SGD{});
            }),
            none);
  EXPECT_EQ(error_of([](GraphBuilder& g) {
              const Tensor w = g.variable<float>("w", {3}, zeros());
              minimize(reduce_sum(gradient(reduce_max(relu(max_pool(reshape(w, {1, 3, 1, 1}), 1))), w)), SGD{});
            }),
            "crochet: an operation between loss and variable has no gradient");
}

// The value that a use of a variable reads depends on the plan: SeeAssignments in passes_test.cpp.
TEST(Builder, ANodeKnowsTheVariableThatItUsesAndSinceWhen) {
  GraphBuilder g;
  const Tensor w = g.variable<float>("w", {}, zeros());
  const Tensor assigned = g.assign(w, w + 1);
  EXPECT_EQ(g.node(assigned).inputs[0], w.id);
  EXPECT_EQ(g.node(w * 2).inputs[0], w.id);
  EXPECT_EQ(g.node(w * 2).moment, -1);
  EXPECT_EQ(g.node(assigned * 2).inputs[0], assigned.id) << "the assigned value by its own name";
  g.read_variables_as_at(assigned.id);
  EXPECT_EQ(g.node(w * 2).moment, assigned.id);
}

TEST(Builder, MinimizeMakesSlotsNamedAsTensorFlowDoes) {
  GraphBuilder g;
  const Tensor w = g.variable<float>("layer/w", {3}, zeros());
  g.variable<float>("layer/unused", {3}, zeros());
  const Tensor step = minimize(reduce_sum(square(w)), Adam{});
  EXPECT_EQ(g.node(step).op, &op::group);
  for (const char* name : {"layer/w/Adam", "layer/w/Adam_1", "beta1_power", "beta2_power", "global_step"}) {
    EXPECT_TRUE(g.has(name)) << name;
  }
  EXPECT_FALSE(g.has("layer/unused/Adam"));
  EXPECT_EQ(g["global_step"].dtype(), DType::int64);
  EXPECT_EQ(g["beta1_power"].dtype(), DType::float64);
  EXPECT_EQ(g.node(g["layer/w/Adam"]).attributes.ints[1], 0) << "a slot is not trained";
}

TEST(Builder, GlobalStepIsMadeOnce) {
  GraphBuilder g;
  const Tensor step = global_step(g);
  EXPECT_EQ(global_step(g).id, step.id);
}

// The builder's storage moves as it grows: returned references must not point into the part that moves.
TEST(Builder, ShapesOutliveTheGrowthOfTheGraph) {
  GraphBuilder g;
  const Tensor x = g.placeholder<float>("x", {3, 5});
  const Shape& shape = x.shape();
  Tensor y = x;
  for (int i = 0; i < 100; ++i) y = y + 1;
  EXPECT_TRUE((shape == Shape{3, 5}));
}

struct Model {
  static constexpr void define(GraphBuilder& g) {
    const Tensor x = g.placeholder<float>("x", {g.dynamic("batch"), 3});
    g.name("y", relu(dense(x, 2, "layer")));
  }
};
struct AddsLoss {
  static constexpr void extend_graph(GraphBuilder& g) { g.name("loss", reduce_mean(g["y"])); }
};
struct AddsTraining {
  static constexpr void extend_graph(GraphBuilder& g) { g.name("train", minimize(g["loss"], SGD{})); }
};

TEST(Frozen, IsTheModelThenItsExtensionsInOrder) {
  static constexpr auto plain = freeze_graph<Model>();
  static constexpr auto extended = freeze_graph<Model, AddsLoss, AddsTraining>();
  static_assert(find_node(plain, "y") >= 0 && find_node(plain, "loss") < 0);
  static_assert(find_node(extended, "y") == find_node(plain, "y"));
  static_assert(extended.nodes[static_cast<std::size_t>(find_node(extended, "train"))].is(op::group));
  static_assert(extended.symbols.size() == 1 && extended.text_of(extended.symbols[0]) == "batch");
  EXPECT_EQ((build_graph<Model, AddsLoss, AddsTraining>().nodes.size()), extended.nodes.size());
}

TEST(Initializers, AreScaledByTheFans) {
  const auto bound = [](const Initializer& i, const Shape& s) { return i.attributes(s, true).reals[1]; };
  EXPECT_DOUBLE_EQ(bound(glorot_uniform(), {3, 5}), std::sqrt(6.0 / 8));
  EXPECT_DOUBLE_EQ(bound(glorot_uniform(), {3, 3, 2, 4}), std::sqrt(6.0 / (9 * 2 + 9 * 4)));
  EXPECT_DOUBLE_EQ(bound(he_normal(), {3, 5}), std::sqrt(2.0 / 3) / 0.87962566103423978);
  EXPECT_DOUBLE_EQ(bound(lecun_uniform(), {5, 5, 4, 8}), std::sqrt(1.0 / 100));
  EXPECT_DOUBLE_EQ(bound(glorot_uniform(), {7}), std::sqrt(6.0 / 14));
  EXPECT_DOUBLE_EQ(bound(uniform(-2, 3), {7, 7}), 3);
}

}  // namespace builder_test
}  // namespace crochet
