// SPDX-License-Identifier: Apache-2.0
// Evenly spaced numbers, masks and permuted axes on the CPU executor against the Oracle: odd shapes, one and several
// threads, elements of every size, empty arrays.
#include "against_oracle.hpp"

namespace crochet {
namespace iota_transpose_test {

template <class V>
std::vector<double> listed(std::initializer_list<V> values) {
  return {values.begin(), values.end()};
}

struct Numbered {
  static constexpr void define(GraphBuilder& g) {
    const Extent batch = g.dynamic("batch");
    const Tensor ids = g.placeholder<std::int32_t>("ids", {batch, 3}),
                 bytes = g.placeholder<std::uint8_t>("bytes", {batch});
    const Tensor x = g.placeholder<float>("x", {batch, 2, 5, 7});
    g.name("to five", iota<float>(g, 5));
    g.name("along the batch", iota<std::int64_t>(g, batch * 300, -3, 2));
    g.name("downwards", iota<double>(g, 67, 0.5, -0.25));
    g.name("bytes to 7", iota<std::uint8_t>(g, 7));
    g.name("one hot", one_hot<float>(ids, 4));  // the ids are 0 ... 4: one is out of range
    g.name("hot and cold", one_hot<std::int32_t>(bytes, 5, 7, -1));
    g.name("causal", causal_mask(g, batch));
    g.name("wide", lower_triangle(g, 3, 5, 1));
    g.name("high", lower_triangle(g, 5, 3, -2));
    g.name("tril", tril(x));
    g.name("triu", triu(x, 1) + tril(x, 0) - x);
    g.name("place in the batch", x + reshape(cast<float>(iota<std::int32_t>(g, batch)), {batch, 1, 1, 1}));
  }
};

TEST(Iota, AndMasksAreTheOracles) { agree_in_teams<Numbered, float>({1, 2, 5, 0, 16}); }

TEST(Iota, AndMasksAreWhatTheyShouldBe) {
  AgainstOracle<Numbered> both(1, 2e-5);
  both.run_all({3});
  EXPECT_EQ(both.fetched(Name<"to five">{}), listed({0, 1, 2, 3, 4}));
  EXPECT_EQ(both.fetched(Name<"causal">{}), listed({1, 0, 0, 1, 1, 0, 1, 1, 1}));
  EXPECT_EQ(both.fetched(Name<"wide">{}), listed({1, 1, 0, 0, 0, 1, 1, 1, 0, 0, 1, 1, 1, 1, 0}));
  EXPECT_EQ(both.fetched(Name<"high">{}), listed({0, 0, 0, 0, 0, 0, 1, 0, 0, 1, 1, 0, 1, 1, 1}));
  for (double d : both.fetched(Name<"triu">{})) EXPECT_EQ(d, 0);
}

template <class T>
struct Transposed {
  static constexpr void define(GraphBuilder& g) {
    const Extent batch = g.dynamic("batch");
    const Tensor x = g.placeholder<T>("x", {batch, 37}), cube = g.placeholder<T>("cube", {3, batch, 19});
    const Tensor heads = g.placeholder<T>("heads", {batch, 5, 3, 16}),
                 six = g.placeholder<T>("six", {2, 3, 1, batch, 2, 3});
    g.name("matrix", transpose(x));
    g.name("021", transpose(cube, {0, 2, 1}));
    g.name("102", transpose(cube, {1, 0, 2}));
    g.name("120", transpose(cube, {1, 2, 0}));
    g.name("201", transpose(cube, {-1, 0, 1}));
    g.name("210", transpose(cube));
    g.name("heads first", swap_axes(heads, 1, 2));
    g.name("heads turned", transpose(heads, {0, 2, 3, 1}));
    g.name("reversed", transpose(heads));
    g.name("of six", transpose(six, {5, 3, 0, 4, 2, 1}));
    g.name("a view", transpose(reshape(x, {batch, 1, 37, 1}), {3, 0, 2, 1}));
    g.name("nothing", transpose(cube, {0, 1, 2}));
    g.name("behind", transpose(x + x) * transpose(x));
  }
};

TEST(Transpose, Float) { agree_in_teams<Transposed<float>, float>({1, 2, 33, 0, 64}); }
TEST(Transpose, Double) { agree_in_teams<Transposed<double>, double>({1, 7, 35, 0}); }
TEST(Transpose, Bytes) { agree_in_teams<Transposed<std::uint8_t>, double>({1, 5, 66, 0}); }

TEST(Transpose, CostsNothingWhereOnlyDimensionsOfOneMove) {
  GraphBuilder g;
  const Tensor x = g.placeholder<float>("x", {g.dynamic("batch"), 1, 7});
  EXPECT_EQ(g.node(transpose(x, {1, 0, 2})).op, &op::reshape);
  EXPECT_EQ(transpose(x, {0, 1, 2}).id, x.id);
  EXPECT_TRUE((transpose(x, {1, 0, 2}).shape() == Shape{1, x.shape()[0], 7}));
}

}  // namespace iota_transpose_test
}  // namespace crochet
