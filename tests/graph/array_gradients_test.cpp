// SPDX-License-Identifier: Apache-2.0
// Gradients of operations that move elements, against finite differences in double.
#include "gradient_cases.hpp"

namespace crochet {
namespace array_gradients_test {

TEST(Gradient, OfTranspose) {
  check_gradients("matrix", [](Case& c) { return transpose(c.x({5, 3})); });
  check_gradients("vector", [](Case& c) { return transpose(c.x({7})); });
  for (const std::initializer_list<int> order :
       {std::initializer_list<int>{0, 2, 1}, {1, 2, 0}, {2, 0, 1}, {1, 0, 2}}) {
    check_gradients("cube", [&](Case& c) { return transpose(c.x({2, 3, 5}), order); });
  }
  check_gradients("with ones", [](Case& c) { return transpose(c.x({2, 1, 3, 1}), {3, 2, 1, 0}); });
  check_gradients("twice used", [](Case& c) {
    const Tensor x = c.x({3, 3});
    return x * transpose(x);
  });
}

TEST(Gradient, OfTriangles) {
  check_gradients("tril", [](Case& c) { return tril(c.x({2, 3, 5}), 1); });
  check_gradients("triu", [](Case& c) { return triu(c.x({5, 3})); });
}

TEST(Gradient, OfViews) {
  check_gradients("expand_dims", [](Case& c) { return expand_dims(c.x({5, 3}), 1) * c.x({2, 3}); });
  check_gradients("squeeze", [](Case& c) { return squeeze(c.x({5, 1, 3}), -2); });
}

TEST(Gradient, OfParts) {
  check_gradients("slice", [](Case& c) { return slice(c.x({5, 7}), 1, 2, -1); });
  check_gradients("rows", [](Case& c) { return slice(c.x({5, 3}), 0, 1, 4, 2); });
  check_gradients("downwards", [](Case& c) { return slice(c.x({2, 7, 3}), 1, -1, 1, -2); });
  check_gradients("overlapping", [](Case& c) {
    const Tensor x = c.x({7, 2});
    return slice(x, 0, 0, 5) * slice(x, 0, 2) - slice(x, 0, 1, 6);
  });
  check_gradients("crop", [](Case& c) { return crop(c.x({3, 4, 5}), {1, -3, 0}, {2, 2, rest}); });
  check_gradients("split", [](Case& c) {
    const auto [q, k, v] = split<3>(c.x({5, 9}), 1);
    return q * v + tanh(k);
  });
  check_gradients("split unevenly, one part unused", [](Case& c) {
    const std::vector<Tensor> parts = split(c.x({2, 9}), {2, 5, 2}, 1);
    return parts[0] * parts[2];
  });
  check_gradients("unstack", [](Case& c) {
    const auto [a, b] = unstack<2>(c.x({5, 2, 3}), 1);
    return a * b;
  });
}

TEST(Gradient, OfASplitIsOneConcat) {
  GraphBuilder g;
  const Tensor x = g.variable<double>("x", {4, 9}, zeros());
  const auto [a, b, c] = split<3>(x, 1);
  const Node& d = g.node(gradient(reduce_sum(a * b + c), x));
  EXPECT_TRUE(d.is(op::concat));
  EXPECT_EQ(d.attributes.ints[1], 3);
  check_gradients("of many", [](Case& k) {
    const auto parts = split<8>(k.x({2, 16}), 1);
    Tensor y = parts[0];
    for (const int i : {3, 7, 1, 2, 4, 6, 5}) y = y * 0.5 + tanh(parts[static_cast<std::size_t>(i)]);
    return y;
  });
  check_gradients("with a gap", [](Case& k) {
    const Tensor y = k.x({5, 3});
    return slice(y, 0, 0, 2) * slice(y, 0, 3) - slice(y, 0, 2, 4);
  });
}

TEST(Gradient, OfWhatIsPutTogether) {
  check_gradients("concat", [](Case& c) { return concat({c.x({5, 2}), c.x({5, 1}), c.x({5, 4})}, 1); });
  check_gradients("concat with itself", [](Case& c) {
    const Tensor x = c.x({2, 3});
    return concat({x, x * 2, c.fixed({1, 3}), c.x({1, 3}), x, x, x, x}, 0);
  });
  check_gradients("stack", [](Case& c) { return stack({c.x({3, 2}), c.x({3, 2})}, 1); });
  check_gradients("pad", [](Case& c) { return pad(c.x({3, 2}), {{1, 0}, {2, 3}}, -1); });
  for (const PadMode mode : {PadMode::reflect, PadMode::symmetric}) {
    check_gradients("mirror", [&](Case& c) { return pad(c.x({3, 5}), {{2, 1}, {4, 0}}, mode); });
  }
  check_gradients("tile", [](Case& c) { return tile(c.x({3, 2}), {2, 3}); });
  check_gradients("repeat", [](Case& c) { return repeat(c.x({3, 2}), 3, 0); });
}

/// Integers in [0, n), of a given seed.
Tensor indices(Case& c, const Shape& shape, int n) { return cast<std::int32_t>(abs(c.fixed(shape)) * (n - 0.01)); }

TEST(Gradient, OfGather) {
  check_gradients("rows", [](Case& c) { return gather(c.x({5, 3}), indices(c, {7}, 5)); });
  check_gradients("pairs of columns", [](Case& c) {
    return reshape(gather(c.x({2, 5}), indices(c, {3, 2}, 5), 1), {4, 3});
  });
  check_gradients("the middle", [](Case& c) { return gather(c.x({2, 5, 3}), indices(c, {4}, 5), 1); });
  check_gradients("one", [](Case& c) { return gather(c.x({5, 3}), indices(c, {}, 5)); });
  check_gradients("along", [](Case& c) { return take_along(c.x({3, 5}), indices(c, {3, 4}, 5), 1); });
  check_gradients("along the middle", [](Case& c) { return take_along(c.x({2, 5, 3}), indices(c, {2, 4, 3}, 5), 1); });
}

TEST(Gradient, OfSegmentSum) {
  check_gradients("rows", [](Case& c) { return segment_sum(c.x({7, 3}), indices(c, {7}, 5), 4); });
  check_gradients("the middle", [](Case& c) { return segment_sum(c.x({2, 3, 2, 3}), indices(c, {3, 2}, 4), 4, 1); });
}

}  // namespace array_gradients_test
}  // namespace crochet
