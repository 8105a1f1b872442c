// SPDX-License-Identifier: Apache-2.0
// Operations that make and move elements, on the CPU executor against the Oracle: odd shapes, one and several threads,
// every element type, no elements at all.
#include "against_oracle.hpp"

namespace crochet {
namespace {

template <class T>
constexpr double tolerance = std::is_same_v<T, float> ? 2e-5 : 1e-12;

template <class Model, class T>
void test(std::initializer_list<std::int64_t> batches) {
  for (int threads = 1; threads <= 3; ++threads) {
    AgainstOracle<Model> both(threads, tolerance<T>);
    for (std::int64_t batch : batches) {
      SCOPED_TRACE("batch " + std::to_string(batch) + ", threads " + std::to_string(threads));
      both.run_all({batch});
    }
  }
}

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
    g.name("one hot", one_hot<float>(ids, 4));  // the ids are 0 ... 4: one of them lies outside
    g.name("hot and cold", one_hot<std::int32_t>(bytes, 5, 7, -1));
    g.name("causal", causal_mask(g, batch));
    g.name("wide", lower_triangle(g, 3, 5, 1));
    g.name("high", lower_triangle(g, 5, 3, -2));
    g.name("tril", tril(x));
    g.name("triu", triu(x, 1) + tril(x, 0) - x);
    g.name("place in the batch", x + reshape(cast<float>(iota<std::int32_t>(g, batch)), {batch, 1, 1, 1}));
  }
};

TEST(Iota, AndMasksAreTheOracles) { test<Numbered, float>({1, 2, 5, 0, 16}); }

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

TEST(Transpose, Float) { test<Transposed<float>, float>({1, 2, 33, 0, 64}); }
TEST(Transpose, Double) { test<Transposed<double>, double>({1, 7, 35, 0}); }
TEST(Transpose, Bytes) { test<Transposed<std::uint8_t>, double>({1, 5, 66, 0}); }
TEST(Transpose, Integers) { test<Transposed<std::int64_t>, double>({3, 17}); }

TEST(Transpose, CostsNothingWhereOnlyDimensionsOfOneMove) {
  GraphBuilder g;
  const Tensor x = g.placeholder<float>("x", {g.dynamic("batch"), 1, 7});
  EXPECT_EQ(g.node(transpose(x, {1, 0, 2})).op, &op::reshape);
  EXPECT_EQ(transpose(x, {0, 1, 2}).id, x.id);
  EXPECT_TRUE((transpose(x, {1, 0, 2}).shape() == Shape{1, x.shape()[0], 7}));
}

template <class T>
struct Parts {
  static constexpr void define(GraphBuilder& g) {
    const Extent batch = g.dynamic("batch");
    const Tensor x = g.placeholder<T>("x", {batch, 11}), cube = g.placeholder<T>("cube", {3, batch * 2, 7});
    g.name("columns", slice(x, 1, 2, -1));
    g.name("every third", slice(x, -1, 1, to_end, 3));
    g.name("downwards", slice(x, 1, -2, 0, -2));
    g.name("first rows", slice(x, 0, 0, 2));  // of one row the second is missing
    g.name("last rows", slice(x, 0, -3));
    g.name("every row", slice(x, 0, 0));
    g.name("none", slice(x, 1, 4, 4));
    g.name("upside down", reverse(x, 0));
    g.name("right to left", reverse(cube, 2));
    g.name("every second", slice(cube, 1, 0, to_end, 2));
    g.name("every second downwards", slice(cube, 1, -1, to_end, -2));
    g.name("block", crop(cube, {1, -1, -5}, {2, 1, 3}));
    g.name("rest of it", crop(cube, {-1, 0, 2}, {rest, rest, 1}));
    const auto [half, other] = split<2>(cube, 1);
    g.name("half", half);
    g.name("other half", other);
    const std::vector<Tensor> uneven = split(x, {1, 3, 7}, 1);
    g.name("one", uneven[0]);
    g.name("three", uneven[1]);
    g.name("seven", uneven[2]);
    g.name("matrix", unstack<3>(cube, 0)[2]);
    g.name("together", concat({x, x, slice(x, 1, 3, 5)}, 1));
    g.name("put together", concat({half, other}, 1));
    g.name("five batches", concat({x, concat({x, x}, 0), x, x}, 0));
    g.name("many", concat({x, x, x, x, x, x, x, uneven[1], x, x, x, x, x, uneven[0]}, 1));
    g.name("stacked", stack({half, other}, 0));
    g.name("stacked at the end", stack({half, other, half}, -1));
    g.name("padded", pad(cube, {{1, 2}, {0, 0}, {3, 0}}));
    g.name("padded with 7", pad(x, {{0, 0}, {0, 5}}, 7));
    g.name("reflected", pad(cube, {{2, 2}, {0, 0}, {6, 1}}, PadMode::reflect));
    g.name("symmetric", pad(cube, {{0, 3}, {0, 0}, {7, 0}}, PadMode::symmetric));
    g.name("tiled", tile(cube, {2, 1, 3}));
    g.name("tiled by the batch", tile(reshape(slice(cube, 0, 0, 1), {batch * 2, 7}), {batch, 1}));
    g.name("repeated", repeat(x, 3, 1));
    g.name("rows repeated", repeat(x, 2, 0));
  }
};

TEST(Parts, Float) { test<Parts<float>, float>({3, 1, 8, 0, 33}); }
TEST(Parts, Double) { test<Parts<double>, double>({3, 1, 0}); }
TEST(Parts, Bytes) { test<Parts<std::uint8_t>, double>({3, 1, 0}); }
TEST(Parts, Integers) { test<Parts<std::int64_t>, double>({3, 1, 0}); }

TEST(Parts, ThatAreMissingAreNotNumbers) {
  AgainstOracle<Parts<float>> both(1, 2e-5);
  both.run_all({1});
  for (std::size_t i = 0; i < 22; ++i) {
    EXPECT_EQ(std::isnan(both.fetched(Name<"first rows">{})[i]), i >= 11);
  }
  AgainstOracle<Parts<std::uint8_t>> bytes;
  bytes.run_all({2});
  for (std::size_t i = 0; i < 11; ++i) EXPECT_EQ(bytes.fetched(Name<"last rows">{})[i], 255);
}

}  // namespace
}  // namespace crochet
