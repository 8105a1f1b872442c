// SPDX-License-Identifier: Apache-2.0
// pool_first: the operations between a convolution and its pooling move behind the pooling, and nothing else moves.
#include <gtest/gtest.h>
#include <crochet/graph/frozen.hpp>
#include <crochet/model.hpp>

namespace crochet {
namespace pool_first_test {

/// The subgraph of a demand after the passes on whole graphs.
Subgraph simplified(const GraphBuilder& g, const ConstexprVector<int>& fetched) {
  return simplify(g.graph(), fetched, ConstexprVector<int>{});
}
/// The number of elementwise operations on images of that height.
int elementwise_on(const Subgraph& s, std::int64_t height) {
  int n = 0;
  for (const Node& node : s.nodes) {
    n += node.op->kind == OpKind::elementwise && node.shape.rank == 4 && node.shape[1] == Extent(height) ? 1 : 0;
  }
  return n;
}
int sums_over(const Subgraph& s, std::int64_t height) {
  int n = 0;
  for (const Node& node : s.nodes) {
    n +=
        node.is(op::reduce_sum) && s.nodes[static_cast<std::size_t>(node.inputs[0])].shape[1] == Extent(height) ? 1 : 0;
  }
  return n;
}

struct Layer {
  GraphBuilder g;
  Tensor x = g.placeholder<float>("x", {g.dynamic("batch"), 8, 6, 3});
  Tensor filter = g.variable<float>("filter", {3, 3, 3, 5}, zeros());
  Tensor bias = g.variable<float>("bias", {5}, zeros());
  Tensor convolved = conv2d(x, filter);
};

TEST(PoolFirst, ABiasAndReluArePooledBefore) {
  Layer l;
  const Tensor y = max_pool(relu(l.convolved + l.bias), 2);
  const Subgraph s = simplified(l.g, {y.id});
  EXPECT_EQ(elementwise_on(s, 8), 0);
  EXPECT_EQ(elementwise_on(s, 4), 2);
}

TEST(PoolFirst, GradientsAreMaskedAndSummedAfterPooling) {
  Layer l;
  const Tensor loss = reduce_sum(square(max_pool(relu(l.bias + l.convolved), 2)));
  const Subgraph s = simplified(l.g, {gradient(loss, l.filter).id, gradient(loss, l.bias).id});
  EXPECT_EQ(elementwise_on(s, 8), 0);
  EXPECT_EQ(sums_over(s, 8), 0);
  EXPECT_EQ(sums_over(s, 4), 1);
}

TEST(PoolFirst, AFiltersGradientTakesThePoolingsUpstreamIfWindowsLieSideBySide) {
  const auto inputs = [](Window window, Window stride) {
    Layer l;
    const Tensor loss = reduce_sum(square(max_pool(relu(l.convolved + l.bias), window, stride)));
    for (const Node& n : simplified(l.g, {gradient(loss, l.filter).id}).nodes) {
      if (n.is(op::conv2d_filter_gradient)) return n.inputs[2] >= 0 ? 3 : 2;
    }
    return 0;
  };
  EXPECT_EQ(inputs({2, 2}, {2, 2}), 3);
  EXPECT_EQ(inputs({4, 3}, {4, 3}), 3);
  EXPECT_EQ(inputs({3, 3}, {1, 1}), 2) << "they overlap";
  EXPECT_EQ(inputs({3, 2}, {3, 2}), 2) << "two rows are in no window";
}

TEST(PoolFirst, WhatIsFetchedIsStillMade) {
  Layer l;
  const Tensor activated = relu(l.convolved + l.bias), y = max_pool(activated, 2);
  EXPECT_EQ(elementwise_on(simplified(l.g, {activated.id, y.id}), 8), 2);
}

TEST(PoolFirst, NothingElseMoves) {
  Layer l;
  const Tensor by_pixel = l.g.variable<float>("by pixel", {6, 5}, zeros());
  const Tensor other = max_pool(l.convolved + by_pixel, 2), scaled = max_pool(l.convolved * l.bias, 2);
  const Tensor smaller = max_pool(conv2d(l.x, l.filter) - l.bias, 2);
  EXPECT_EQ(elementwise_on(simplified(l.g, {other.id}), 8), 1);
  EXPECT_EQ(elementwise_on(simplified(l.g, {scaled.id}), 8), 1);
  EXPECT_EQ(elementwise_on(simplified(l.g, {smaller.id}), 8), 1);
}

TEST(PoolFirst, AMaskOfAnotherPoolingStays) {
  Layer l;
  const Tensor h = relu(l.convolved + l.bias);
  // The gradient of h is the sum of two gradients; relu masks the sum and neither of them alone.
  const Tensor loss = reduce_sum(square(max_pool(h, 2))) + reduce_sum(max_pool(h, {3, 3}, {1, 1}));
  const Subgraph s = simplified(l.g, {gradient(loss, l.filter).id});
  EXPECT_GE(elementwise_on(s, 8), 2);
}

TEST(PoolFirst, TheGradientOfAClippedWindowThatIsReadGoesToItsFirstElement) {
  const auto image_of_winners = [](bool fetches_it) {
    Layer l;
    const Tensor h = relu(l.convolved + l.bias), loss = reduce_sum(square(max_pool(h, 2)));
    ConstexprVector<int> fetched;
    fetched.push_back(gradient(loss, l.filter).id);
    if (fetches_it) fetched.push_back(gradient(loss, h).id);
    const Subgraph s = simplified(l.g, fetched);
    for (const Node& n : s.nodes) {
      if (n.is(op::max_pool_winners)) return s.nodes[static_cast<std::size_t>(n.inputs[0])].op;
    }
    return static_cast<const Op*>(nullptr);
  };
  EXPECT_EQ(image_of_winners(true), &op::relu);
  EXPECT_EQ(image_of_winners(false), &op::conv2d);
}

}  // namespace pool_first_test
}  // namespace crochet
