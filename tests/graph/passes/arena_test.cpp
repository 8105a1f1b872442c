// SPDX-License-Identifier: Apache-2.0
// The workspace is at most 10 % larger than the largest total of live values, for models and for random graphs.
#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

#include <crochet/graph/frozen.hpp>
#include <crochet/graph/passes/arena.hpp>
#include <crochet/model.hpp>

#include "../random_values.hpp"

namespace crochet {
namespace arena_test {

Plan training_plan(GraphBuilder& g, Tensor loss) {
  const Tensor train = minimize(loss, Adam{});
  return make_plan(simplify(g.graph(), ConstexprVector<int>{loss.id}, ConstexprVector<int>{train.id}));
}
void expect_tight(const Plan& p, const Dims& dims) {
  const std::int64_t live = liveness_bytes(p, dims), taken = workspace_bytes(p, dims);
  EXPECT_GT(live, 0);
  EXPECT_GE(taken, live) << "less than what is in use cannot be right";
  EXPECT_LE(static_cast<double>(taken), 1.1 * static_cast<double>(live)) << taken << " and " << live;
}

TEST(Arena, OfAnMlp) {
  GraphBuilder g;
  const Extent batch = g.dynamic("batch");
  const Tensor x = g.placeholder<float>("x", {batch, 784}), labels = g.placeholder<std::int32_t>("labels", {batch});
  const Tensor h = relu(dense(relu(dense(x, 512, "a")), 512, "b"));
  const Plan p = training_plan(g, sparse_softmax_cross_entropy(dense(h, 10, "c"), labels));
  for (std::int64_t size : {1, 7, 32, 256}) expect_tight(p, {size});
}

TEST(Arena, OfAConvolutionalNetwork) {
  GraphBuilder g;
  const Extent batch = g.dynamic("batch");
  const Tensor x = g.placeholder<float>("x", {batch, 28, 28, 1}),
               labels = g.placeholder<std::int32_t>("labels", {batch});
  Tensor y = max_pool(relu(conv2d(x, 32, {3, 3}, "a")), 2);
  y = max_pool(relu(conv2d(y, 64, {3, 3}, "b")), 2);
  const Tensor logits = dense(relu(dense(flatten(y), 128, "c")), 10, "d");
  const Plan p = training_plan(g, sparse_softmax_cross_entropy(logits, labels));
  for (std::int64_t size : {1, 32, 128}) expect_tight(p, {size});
}

TEST(Arena, OfADeepNetworkOfManyWidths) {
  GraphBuilder g;
  Tensor x = g.placeholder<double>("x", {g.dynamic("batch"), 64});
  for (int i = 0; i < 24; ++i) {
    const char name[] = {'l', static_cast<char>('a' + i)};
    x = tanh(dense(x, 40 + 37 * i % 101, {name, 2}));
  }
  const Plan p = training_plan(g, reduce_mean(square(x)));
  for (std::int64_t size : {5, 32, 100}) expect_tight(p, {size});
}

TEST(Arena, OfRandomGraphs) {
  int tight = 0, graphs = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    GraphBuilder g;
    Numbers numbers(seed);
    std::vector<Tensor> values{g.placeholder<float>("x", {64, 64})};
    const auto any = [&] {
      return values[values.size() - 1 -
                    static_cast<std::size_t>(numbers.below(std::min(6, static_cast<int>(values.size()))))];
    };
    for (int i = 0; i < 40; ++i) {
      const Tensor a = any();
      const auto columns = static_cast<std::int64_t>(1 + numbers.below(200));
      const Tensor w = g.constant(1.0F);
      values.push_back(matmul(a, broadcast_to(w, {a.shape()[1], columns})));
    }
    const Plan p = make_plan(simplify(g.graph(), ConstexprVector<int>{values.back().id}, ConstexprVector<int>{}));
    if (p.slots.empty()) continue;
    const std::int64_t live = liveness_bytes(p), taken = workspace_bytes(p);
    EXPECT_GE(taken, live);
    EXPECT_LE(static_cast<double>(taken), 1.25 * static_cast<double>(live)) << seed;
    ++graphs;
    tight += static_cast<double>(taken) <= 1.1 * static_cast<double>(live) ? 1 : 0;
  }
  EXPECT_GE(tight, graphs * 95 / 100) << tight << " of " << graphs;
}

TEST(Arena, SlotsInUseAtTheSameTimeDoNotOverlap) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    Numbers numbers(seed);
    ConstexprVector<PlacedSlot> slots(static_cast<std::size_t>(1 + numbers.below(60)));
    for (PlacedSlot& s : slots) {
      s.bytes = 64 * static_cast<std::int64_t>(numbers.below(30));
      s.first = static_cast<std::int32_t>(numbers.below(20));
      s.last = s.first + static_cast<std::int32_t>(numbers.below(8));
    }
    ConstexprVector<int> order(slots.size()), by_offset(slots.size());
    const std::int64_t peak = place_in_arena(slots, order, by_offset);
    for (std::size_t i = 0; i < slots.size(); ++i) {
      EXPECT_GE(slots[i].offset, 0);
      EXPECT_LE(slots[i].offset + slots[i].bytes, peak);
      for (std::size_t j = 0; j < i; ++j) {
        const bool together = slots[i].first <= slots[j].last && slots[j].first <= slots[i].last;
        const bool apart =
            slots[i].offset + slots[i].bytes <= slots[j].offset || slots[j].offset + slots[j].bytes <= slots[i].offset;
        EXPECT_TRUE(!together || apart) << seed << ": " << i << " and " << j;
      }
    }
  }
}

}  // namespace arena_test
}  // namespace crochet
