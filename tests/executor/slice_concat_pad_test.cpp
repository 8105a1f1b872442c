// SPDX-License-Identifier: Apache-2.0
// Slices, concatenation, padding and repetition on the CPU executor against the Oracle: odd shapes, one and several
// threads, elements of every size, empty arrays.
#include "against_oracle.hpp"

namespace crochet {
namespace slice_concat_pad_test {

template <class T>
struct Parts {
  static constexpr void define(GraphBuilder& g) {
    const Extent batch = g.dynamic("batch");
    const Tensor x = g.placeholder<T>("x", {batch, 11}), cube = g.placeholder<T>("cube", {3, batch * 2, 7});
    g.name("columns", slice(x, 1, 2, -1));
    g.name("every third", slice(x, -1, 1, to_end, 3));
    g.name("downwards", slice(x, 1, -2, 0, -2));
    g.name("first rows", slice(x, 0, 0, 2));  // a batch of one row has no second
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

TEST(Parts, Float) { agree_in_teams<Parts<float>, float>({3, 1, 8, 0, 33}); }
TEST(Parts, Bytes) { agree_in_teams<Parts<std::uint8_t>, double>({3, 1, 0}); }
TEST(Parts, Integers) { agree_in_teams<Parts<std::int64_t>, double>({3, 1, 0}); }

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

}  // namespace slice_concat_pad_test
}  // namespace crochet
