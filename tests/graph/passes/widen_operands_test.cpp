// SPDX-License-Identifier: Apache-2.0
// Where operands of products that are stored as bfloat16 are converted, for devices whose products read floats only.
#include <crochet/graph/passes/widen_operands.hpp>

#include <gtest/gtest.h>

#include <crochet/graph/frozen.hpp>
#include <crochet/model.hpp>

namespace graph_passes_widen_operands_test {

namespace cr = crochet;

/// The graph of `define` in front of the pass, with everything fetched.
template <class Define>
cr::Subgraph selected(Define define) {
  cr::GraphBuilder g;
  define(g);
  cr::ConstexprVector<int> all;
  for (int i = 0; i < g.size(); ++i) all.push_back(i);
  return cr::select_nodes(g.graph(), all, cr::ConstexprVector<int>{});
}

TEST(WidenOperands, ConvertsEachOperandThatIsStored) {
  const cr::Subgraph before = selected([](cr::GraphBuilder& g) {
    const auto x = g.placeholder<float>("x", {4, 3});
    const auto w = g.variable<cr::bfloat16>("w", {3, 5}, cr::zeros());
    matmul(matmul(x, w), w, {.a = false, .b = true});
    matmul(w, w, {.a = true, .b = false});
  });
  ASSERT_TRUE(cr::has_stored_operands(before));
  const cr::Subgraph after = cr::widen_operands(before);
  EXPECT_FALSE(cr::has_stored_operands(after));
  ASSERT_EQ(after.nodes.size(), before.nodes.size() + 4) << "one for each operand, so that none is in memory for long";
  int products = 0;
  for (const cr::Node& n : after.nodes) {
    if (!n.is(cr::op::matmul)) continue;
    ++products;
    const cr::Node &a = after.nodes[static_cast<std::size_t>(n.inputs[0])],
                   &b = after.nodes[static_cast<std::size_t>(n.inputs[1])];
    EXPECT_EQ(a.dtype, cr::DType::float32);
    ASSERT_TRUE(b.is(cr::op::cast));
    EXPECT_EQ(b.shape, (cr::Shape{3, 5}));
    EXPECT_TRUE(after.nodes[static_cast<std::size_t>(b.inputs[0])].is(cr::op::variable));
  }
  EXPECT_EQ(products, 3);
}

TEST(WidenOperands, LeavesOtherGraphsAlone) {
  const cr::Subgraph before = selected([](cr::GraphBuilder& g) {
    const auto x = g.placeholder<float>("x", {4, 3});
    transpose(cast<cr::bfloat16>(matmul(x, x, {.a = true, .b = false})));
  });
  EXPECT_FALSE(cr::has_stored_operands(before));
  EXPECT_EQ(cr::widen_operands(before).nodes.size(), before.nodes.size());
}

}  // namespace graph_passes_widen_operands_test
