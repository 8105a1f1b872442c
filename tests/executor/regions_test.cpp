// SPDX-License-Identifier: Apache-2.0
// Item regions: steps that process a few items of the batch at a time on one core have the graph's results, for any
// number of items and threads.
#include "against_oracle.hpp"

namespace crochet {
namespace regions_test {

/// The rows of each item pass through two products, functions between them, and a reduction within the item. `whole`
/// reads all items at once and ends the region; the steps after it begin another.
struct Model {
  static constexpr void define(GraphBuilder& g) {
    const auto batch = g.dynamic("batch");
    const auto x = g.placeholder<double>("x", {batch, 20, 9});
    const auto scale = g.placeholder<double>("scale", {batch, 1});
    const auto w = g.variable<double>("w", {9, 37}, uniform(-1, 1));
    const auto v = g.variable<double>("v", {37, 5}, uniform(-1, 1));
    const auto h = tanh(matmul(reshape(x, {batch * 20, 9}), w) + 0.5);
    const auto y = g.name("y", matmul(h, v) * 2.0);
    const auto rows = g.name("rows", reduce_sum(reshape(y, {batch, 100}), {1}));
    const auto whole = g.name("whole", reduce_max(y));
    const auto z = g.name("z", reshape(y, {batch, 100}) * scale - whole);
    const auto loss = g.name("loss", reduce_mean(square(z)) + reduce_sum(square(rows)) * 0.01);
    g.name("train", minimize(loss, SGD{.learning_rate = 0.001}));
  }
};

template <class E>
constexpr std::size_t regions = E::template plan_of<Demand<Names<Name<"z">, Name<"rows">>, Names<>>>::plan.region_count;

TEST(Regions, AreFound) { static_assert(regions<cpu::Executor<kernel::Tiles, Model>> >= 1); }

TEST(Regions, ComputeWhatTheGraphSays) {
  for (int threads : {1, 2, 3}) {
    AgainstOracle<Model> both(threads, 1e-10);
    for (std::int64_t batch : {5, 1, 2, 0, 40, 3}) {
      both.run(Names<Name<"z">, Name<"rows">>{}, Names<>{}, {batch});
      if (batch > 0) both.run(Names<Name<"loss">>{}, Names<Name<"train">>{}, {batch});
    }
  }
}

TEST(Regions, KeepWhatIsFetched) {
  AgainstOracle<Model> both(2, 1e-10);
  both.run(Names<Name<"y">, Name<"z">, Name<"loss">>{}, Names<Name<"train">>{}, {7});
}

}  // namespace regions_test
}  // namespace crochet
