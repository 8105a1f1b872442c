// SPDX-License-Identifier: Apache-2.0
// Shapes of operations that move elements, with dynamic dimensions, and the errors of invalid ones.
#include <gtest/gtest.h>
#include <crochet/model.hpp>

namespace crochet {
namespace array_shapes_test {

/// The error message of a model in which f fails, "nothing" without an error.
template <class F>
std::string refusal(F f) {
  GraphBuilder g;
  const Tensor x = g.placeholder<float>("x", {g.dynamic("batch"), 6, 4});
  try {
    f(g, x);
  } catch (const GraphError& e) {
    return std::string(e.what()).substr(9);  // after "crochet: "
  }
  return "nothing";
}

TEST(ArrayShapes, KeepDynamicDimensions) {
  GraphBuilder g;
  const Extent n = g.dynamic("n"), k = g.dynamic("k");
  const Tensor x = g.placeholder<float>("x", {n, 6, 4}), ids = g.placeholder<std::int64_t>("ids", {n, k});
  EXPECT_TRUE((transpose(x).shape() == Shape{4, 6, n}));
  EXPECT_TRUE((slice(x, 0, -3).shape() == Shape{3, 6, 4}));
  EXPECT_TRUE((slice(x, 0, -1, to_end, -1).shape() == Shape{n, 6, 4}));
  EXPECT_TRUE((slice(x, 1, 5, 0, -2).shape() == Shape{n, 3, 4}));
  EXPECT_TRUE((slice(x, 1, 3, 3).shape() == Shape{n, 0, 4}));
  EXPECT_TRUE((crop(x, {0, -2, 1}, {rest, 2, rest}).shape() == Shape{n, 2, 3}));
  EXPECT_TRUE((crochet::concat({x, x, x}, 0).shape() == Shape{n * 3, 6, 4}));
  EXPECT_TRUE((split<3>(crochet::concat({x, x, x}, 0), 0)[2].shape() == Shape{n, 6, 4}));
  EXPECT_TRUE((stack({x, x}, -1).shape() == Shape{n, 6, 4, 2}));
  EXPECT_TRUE((pad(x, {{0, 0}, {1, 2}, {0, 0}}).shape() == Shape{n, 9, 4}));
  EXPECT_TRUE((tile(x, {k, 1, 2}).shape() == Shape{n * k, 6, 8}));
  EXPECT_TRUE((repeat(x, k, 1).shape() == Shape{n, k * 6, 4}));
  EXPECT_TRUE((gather(x, ids, 1).shape() == Shape{n, n, k, 4}));
  EXPECT_TRUE((segment_sum(reshape(gather(x, ids, 1), {n * 4, n, k}), ids, 7, 1).shape() == Shape{n * 4, 7}));
  EXPECT_TRUE((one_hot<float>(ids, 5).shape() == Shape{n, k, 5}));
  EXPECT_TRUE((matmul(x, x, {.a = true, .b = false}).shape() == Shape{n, 4, 4}));
  EXPECT_TRUE((embedding(ids, 11, 8, "e").shape() == Shape{n, k, 8}));
}

TEST(ArrayShapes, RefuseWhatCannotBe) {
  const std::string sum =
      "a dimension would be a sum with a dynamic one, such as batch + 1: only its multiples and fractions are sizes";
  EXPECT_EQ(refusal([](auto&, Tensor x) { slice(x, 0, 1); }), sum);
  EXPECT_EQ(refusal([](auto&, Tensor x) { slice(x, 0, 0, to_end, 2); }), sum);
  EXPECT_EQ(refusal([](auto&, Tensor x) { pad(x, {{1, 0}, {0, 0}, {0, 0}}); }), sum);
  EXPECT_EQ(refusal([](auto& g, Tensor x) {
              concat({x, g.template placeholder<float>("y", {g.dynamic("n"), 6, 4})}, 0);
            }),
            sum);
  EXPECT_EQ(refusal([](auto&, Tensor x) { slice(x, 1, 0, 7); }), "a slice from 0 to 7 of 6");
  EXPECT_EQ(refusal([](auto&, Tensor x) { slice(x, 1, 3, 2); }), "a slice from 3 to 2 of 6");
  EXPECT_EQ(refusal([](auto&, Tensor x) { slice(x, 1, -7); }), "a slice from -1 to 6 of 6");
  EXPECT_EQ(refusal([](auto&, Tensor x) { slice(x, 1, 6, 0, -1); }), "a slice from 6 to 0 of 6");
  EXPECT_EQ(refusal([](auto&, Tensor x) { slice(x, 1, 0, 6, 0); }), "a slice needs a step other than 0");
  EXPECT_EQ(refusal([](auto&, Tensor x) { crop(x, {0, -4, 0}, {rest, 6, 4}); }), "a slice from 2 to 8 of 6");
  EXPECT_EQ(refusal([](auto&, Tensor x) { split<4>(x, 1); }), "a dimension of 6 cannot be split into 4 equal parts");
  EXPECT_EQ(refusal([](auto&, Tensor x) { split(x, {1, 2}, 1); }), "split: the sizes add up to 3, the dimension is 6");
  EXPECT_EQ(refusal([](auto&, Tensor x) { unstack<3>(x, 1); }), "a dimension of 6 cannot be split into 3 equal parts");
  EXPECT_EQ(refusal([](auto&, Tensor x) { transpose(x, {0, 1, 1}); }), "transpose needs every axis exactly once");
  EXPECT_EQ(refusal([](auto&, Tensor x) { transpose(x, {0, 1}); }), "transpose needs every axis exactly once");
  EXPECT_EQ(refusal([](auto&, Tensor x) { reverse(x, 3); }), "there is no axis 3");
  EXPECT_EQ(refusal([](auto&, Tensor x) { squeeze(x, 1); }), "reshape changes the number of elements");
  EXPECT_EQ(refusal([](auto&, Tensor x) {
              stack({x, slice(x, 1, 0, 3)}, 0);
            }),
            "shapes differ beside the axis of concatenation");
  EXPECT_EQ(refusal([](auto&, Tensor x) {
              pad(x, {{0, 0}, {6, 0}, {0, 0}}, PadMode::reflect);
            }),
            "padding of 6 cannot mirror 5");
  EXPECT_EQ(refusal([](auto&, Tensor x) { gather(x, x); }), "the operation does not support this element type");
  EXPECT_EQ(refusal([](auto&, Tensor x) { one_hot<float>(x, 3); }), "the operation does not support this element type");
  EXPECT_EQ(refusal([](auto& g, Tensor x) { segment_sum(x, iota<std::int32_t>(g, 5), 3); }),
            "the operands' shapes do not broadcast");
  EXPECT_EQ(refusal([](auto&, Tensor x) { matmul(x, slice(x, 1, 0, 5)); }), "matmul: inner dimensions differ: 4 and 5");
  const auto too_far = [](std::string_view n) {
    return "a position, a step or an axis of " + std::string(n) +
           ": slice, pad, argmax and top_k have them up to 2^31 - 1";
  };
  const auto long_row = [](GraphBuilder& g) { return g.placeholder<std::uint8_t>("long", {3'000'000'000}); };
  EXPECT_EQ(refusal([&](auto& g, Tensor) { slice(long_row(g), 0, 2'500'000'000); }), too_far("2500000000"));
  EXPECT_EQ(refusal([&](auto& g, Tensor) { slice(long_row(g), 0, 0, to_end, 1LL << 32); }), too_far("4294967296"));
  EXPECT_EQ(refusal([](auto&, Tensor x) { slice(x, 1, 5, 0, INT64_MIN); }), too_far("-9223372036854775808"));
  EXPECT_EQ(refusal([&](auto& g, Tensor) { argmax(long_row(g)); }), too_far("3000000000"));
  EXPECT_EQ(refusal([&](auto& g, Tensor) { top_k(long_row(g), 2); }), too_far("3000000000"));
  EXPECT_EQ(refusal([&](auto& g, Tensor) { slice(long_row(g), 0, 2'000'000'000); }), "nothing");
  EXPECT_EQ(refusal([](auto&, Tensor x) { matmul(x, reshape(slice(x, 1, 0, 1), {rest})); }),
            "a tensor of rank 2 is needed here, not rank 1");
}

}  // namespace array_shapes_test
}  // namespace crochet
