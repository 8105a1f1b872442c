// SPDX-License-Identifier: Apache-2.0
// FloatingNodes: the nodes that each loop computes again, and the cost of that.
#include <gtest/gtest.h>
#include <crochet/graph/passes/floating.hpp>
#include <crochet/model.hpp>

namespace crochet {
namespace floating_test {

/// The floating nodes of a whole graph.
struct Floating {
  Subgraph graph;
  detail::FloatingNodes nodes{graph};

  constexpr explicit Floating(const GraphBuilder& g, const ConstexprVector<int>& fetched = {})
      : graph{g.graph().nodes, fetched, {}} {}
  constexpr bool has(Tensor t) const { return nodes.floats(t.id); }
  constexpr bool precedes_assignment(Tensor t) const { return nodes.precedes_assignment(t.id); }
  constexpr int cost(Tensor t) { return nodes.cost(t.id); }
};

struct Model {
  GraphBuilder g;
  Tensor w = g.variable<double>("w", {4, 4}, zeros());
  Tensor x = g.placeholder<double>("x", {4, 4});
  Tensor row = g.placeholder<double>("row", {4});
};

TEST(FloatingNodes, AnElementwiseNodeOnSourcesFloats) {
  Model m;
  const Tensor sum = m.x + m.w, y = exp(sum + m.row);
  const Floating f(m.g);
  EXPECT_TRUE(f.has(sum));
  EXPECT_TRUE(f.has(y)) << "its operands float or are sources";
  EXPECT_FALSE(f.has(m.x)) << "a source is in memory already";
}

TEST(FloatingNodes, InTheCompilerToo) {
  static_assert([] {
    GraphBuilder g;
    const Tensor x = g.placeholder<double>("x", {4}), y = exp(x), sum = reduce_sum(y), z = y + sum;
    Floating f(g);
    return f.has(y) && !f.has(sum) && !f.has(z) && f.cost(y) == cost_of(op::exp);
  }());
}

TEST(FloatingNodes, NotBehindAKernel) {
  Model m;
  const Tensor product = matmul(m.x, m.w), y = product + 1, z = y * m.x;
  const Floating f(m.g);
  EXPECT_FALSE(f.has(product));
  EXPECT_FALSE(f.has(y));
  EXPECT_FALSE(f.has(z)) << "one of its operands does not float";
}

TEST(FloatingNodes, NotOnAFloatingNodeOfAnotherShape) {
  Model m;
  const Tensor scaled = m.row * 2, y = m.x + scaled;
  const Floating f(m.g);
  EXPECT_TRUE(f.has(scaled));
  EXPECT_FALSE(f.has(y));
}

TEST(FloatingNodes, NotIfNoLoopCanAccessAllOperands) {
  GraphBuilder g;
  const Tensor x = g.placeholder<double>("x", {2, 3, 4});
  const Tensor a = g.placeholder<double>("a", {4}), b = g.placeholder<double>("b", {2, 1, 1});
  const Tensor one = x + a, other = x + b, both = one + other;
  const Floating f(g);
  EXPECT_TRUE(f.has(one));
  EXPECT_TRUE(f.has(other));
  EXPECT_FALSE(f.has(both)) << "one is a row of 4 columns, the other a column of 2 rows";
}

TEST(FloatingNodes, OneReaderOfAnAssignedVariableFloatsSeveralDoNot) {
  Model m;
  const Tensor once = m.w * 2, twice = m.w * 3, fetched = m.w * 4;
  const Tensor set = m.g.assign(m.w, once + 1), y = twice + twice * m.x, z = exp(fetched);
  const Floating f(m.g, {fetched.id});
  EXPECT_TRUE(f.has(once));
  EXPECT_FALSE(f.has(twice)) << "its second reader could come after the assignment";
  EXPECT_FALSE(f.has(y)) << "an operand does not float";
  EXPECT_FALSE(f.has(fetched)) << "a fetch is a reader";
  EXPECT_FALSE(f.has(z));
  EXPECT_FALSE(f.has(set)) << "an assignment is not elementwise";
}

TEST(FloatingNodes, WhatDependsOnAnAssignedVariablePrecedesTheAssignment) {
  Model m;
  const Tensor first = m.w * 2, y = exp(first), other = m.x * 2;
  m.g.assign(m.w, m.x);
  const Floating f(m.g);
  EXPECT_TRUE(f.precedes_assignment(first));
  EXPECT_TRUE(f.precedes_assignment(y)) << "by way of its operand";
  EXPECT_FALSE(f.precedes_assignment(other));
  EXPECT_FALSE(f.precedes_assignment(m.w)) << "a source is not computed";
}

TEST(FloatingNodes, TheCostIsThatOfAllFloatingNodesBehindIt) {
  Model m;
  const Tensor e = exp(m.x), sum = e + m.w, squared = sum * sum, stored = matmul(m.x, m.w) + 1;
  Floating f(m.g);
  const int of_sum = cost_of(op::exp) + cost_of(op::add);
  EXPECT_EQ(f.cost(m.x), 0);
  EXPECT_EQ(f.cost(stored), 0);
  EXPECT_EQ(f.cost(squared), cost_of(op::mul) + 2 * of_sum) << "a node that is read twice is counted twice";
  EXPECT_EQ(f.cost(sum), of_sum);
}

TEST(FloatingNodes, TheCostOfAChainThatDoublesIsBounded) {
  Model m;
  Tensor y = m.x;
  for (int i = 0; i < 100; ++i) y = y * y;
  Floating f(m.g);
  EXPECT_GE(f.cost(y), 1 << 16);
  EXPECT_LE(f.cost(y), 1 << 18);
}

}  // namespace floating_test
}  // namespace crochet
