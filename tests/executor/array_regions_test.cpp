// SPDX-License-Identifier: Apache-2.0
// Item regions with operations that move elements and with batched products: what each operation declares about its
// items is correct.
#include "against_oracle.hpp"

namespace crochet {
namespace array_regions_test {

/// Each step needs the one before, so all steps can form one region.
struct Chain {
  static constexpr void define(GraphBuilder& g) {
    const Extent batch = g.dynamic("batch");
    const Tensor x = g.placeholder<double>("x", {batch, 6, 12}), ids = g.placeholder<std::int32_t>("ids", {5});
    const auto [q, k, v] = split<3>(x, -1);
    const Tensor scores = matmul(q, k, {.a = false, .b = true}) * 0.5;  // [batch, 6, 6]
    const Tensor mixed = matmul(tanh(scores), v);                       // [batch, 6, 4]
    const Tensor turned = transpose(mixed, {0, 2, 1});                  // [batch, 4, 6]
    const Tensor wide = crochet::concat({turned, reverse(turned, 2), slice(turned, 2, 1, -1, 3)}, 2);
    const Tensor padded = pad(wide, {{0, 0}, {1, 0}, {0, 2}}, 0.5);  // [batch, 5, 16]
    const Tensor named = gather(padded, ids, 1);
    const Tensor summed = segment_sum(named, ids, 5, 1);
    const Tensor w = g.variable<double>("w", {5, 3}, uniform(-1, 1));
    const Tensor shared = matmul(w, summed, {.a = true, .b = false});
    g.name("y", shared * 2 + 1);
  }
};

struct Rows {
  static constexpr void define(GraphBuilder& g) {
    const Extent batch = g.dynamic("batch");
    const Tensor ids = g.placeholder<std::int32_t>("ids", {batch, 3});
    const Tensor h = embedding<double>(ids, 4, 8, "words", uniform(-1, 1));
    const Tensor heads = transpose(reshape(h, {batch, 3, 2, 4}), {0, 2, 1, 3});
    const Tensor y = matmul(heads, heads, {.a = false, .b = true});
    g.name("y", reshape(tanh(y), {batch, 18}) + 1);
  }
};

template <class Model>
constexpr std::size_t regions =
    cpu::Executor<kernel::Tiles, Model>::template plan_of<Demand<Names<Name<"y">>, Names<>>>::plan.region_count;

TEST(Regions, OfArraysAreFound) {
  static_assert(regions<Chain> >= 1);
  static_assert(regions<Rows> >= 1);
}

template <class Model>
void test() {
  for (int threads : {1, 2, 3}) {
    AgainstOracle<Model> both(threads, 1e-11);
    for (std::int64_t batch : {5, 1, 2, 0, 70, 3}) {
      SCOPED_TRACE("batch " + std::to_string(batch) + ", threads " + std::to_string(threads));
      both.run(Names<Name<"y">>{}, Names<>{}, {batch});
    }
  }
}

TEST(Regions, OfArraysComputeWhatTheGraphSays) {
  test<Chain>();
  test<Rows>();
}

}  // namespace array_regions_test
}  // namespace crochet
