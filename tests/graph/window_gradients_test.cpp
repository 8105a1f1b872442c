// SPDX-License-Identifier: Apache-2.0
// The gradient rules of convolutions and pooling against finite differences in double.
#include "gradient_cases.hpp"

namespace crochet {
namespace window_gradients_test {

struct Windows {
  Shape image;
  Window window;
  Window stride{1, 1};
  Window dilation{1, 1};
};

class WindowGradient : public ::testing::TestWithParam<std::tuple<Windows, Padding>> {};

/// A matrix, for which weigh() has a row and a column upstream.
Tensor rows(Tensor y) { return reshape(y, {y.shape()[0], rest}); }

TEST_P(WindowGradient, IsTheDifferenceQuotient) {
  const Windows& w = std::get<0>(GetParam());  // by name: clang 14 cannot capture structured bindings
  const Shape image = w.image;
  const Window window = w.window, stride = w.stride, dilation = w.dilation;
  const Padding p = std::get<1>(GetParam());
  const Extent channels = image[3], height = window.height, width = window.width;
  for (const std::int64_t filters : {1, 3}) {
    const Shape filter{height, width, channels, filters};
    check_gradients("conv2d", [&](Case& c) { return rows(conv2d(c.x(image), c.x(filter), stride, p, dilation)); });
    check_gradients("depthwise",
                    [&](Case& c) { return rows(depthwise_conv2d(c.x(image), c.x(filter), stride, p, dilation)); });
  }
  check_gradients("max_pool", [&](Case& c) { return rows(max_pool(c.x(image), window, stride, p)); });
  check_gradients("average_pool", [&](Case& c) { return rows(average_pool(c.x(image), window, stride, p)); });
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, WindowGradient,
    ::testing::Combine(::testing::Values(Windows{{2, 5, 7, 3}, {3, 3}}, Windows{{1, 5, 5, 1}, {2, 3}, {2, 1}},
                                         Windows{{3, 4, 6, 2}, {1, 1}, {3, 2}}, Windows{{1, 3, 3, 1}, {3, 3}},
                                         Windows{{2, 7, 5, 1}, {2, 2}, {2, 2}},
                                         Windows{{1, 7, 8, 2}, {3, 2}, {1, 1}, {2, 3}},
                                         Windows{{1, 7, 9, 1}, {2, 2}, {2, 3}, {3, 2}}),
                       ::testing::Values(Padding::same, Padding::valid)));

TEST(Gradient, OfAConvolutionAlongOneDimension) {
  check_gradients("conv1d", [](Case& c) { return rows(conv1d(c.x({2, 7, 3}), c.x({3, 3, 2}), 2, Padding::same)); });
  check_gradients("conv1d", [](Case& c) { return rows(conv1d(c.x({1, 9, 1}), c.x({2, 1, 3}), 1, Padding::valid, 3)); });
}

TEST(Gradient, OfGlobalPools) {
  check_gradients("average", [](Case& c) { return global_average_pool(c.x({2, 3, 5, 4})); });
  check_gradients("max", [](Case& c) { return global_max_pool(c.x({3, 2, 1, 5})); });
}

TEST(Gradient, OfAPoolGoesToTheFirstOfTheGreatest) {
  GraphBuilder g;
  const Tensor x = g.variable<double>("x", {1, 1, 4, 1}, zeros());
  g.name("d", gradient(reduce_sum(max_pool(x, {1, 2}, {1, 2})), x));
  testing::Oracle oracle(g.graph());
  oracle.set("x", std::vector<double>{3, 3, 1, 2});
  oracle.run({"d"});
  EXPECT_EQ(oracle["d"].data, (std::vector<double>{1, 0, 0, 1}));
}

}  // namespace window_gradients_test
}  // namespace crochet
