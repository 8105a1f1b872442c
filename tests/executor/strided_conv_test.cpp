// SPDX-License-Identifier: Apache-2.0
// Convolutions with strides and dilations, their gradients, and one-dimensional convolutions, against the Oracle.
#include "windows.hpp"

namespace crochet {
namespace strided_conv_test {

TEST(Convolution, ValidStrided) { test_windows<Convolution<double, 8, 11, 5, 3, 3, 2, valid, 2, 3>, double>(); }
TEST(Convolution, SameStridedEvenWindow) { test_windows<Convolution<float, 9, 6, 1, 33, 2, 4, same, 2, 1>, float>(); }
TEST(Convolution, StrideBeyondTheWindow) { test_windows<Convolution<double, 7, 7, 17, 1, 1, 2, same, 3, 3>, double>(); }
TEST(Convolution, Strided7x7) { test_windows<Convolution<float, 13, 17, 3, 20, 7, 7, same, 2, 2>, float>(); }
TEST(Convolution, Dilated) { test_windows<Convolution<float, 11, 13, 4, 18, 3, 3, same, 1, 1, 2, 3>, float>(); }
TEST(Convolution, DilatedValidStrided) {
  test_windows<Convolution<double, 12, 15, 9, 5, 2, 3, valid, 2, 3, 3, 2>, double>();
}
TEST(Convolution, DilationSharesAFactorWithTheStride) {
  test_windows<Convolution<double, 11, 14, 3, 17, 3, 3, same, 4, 2, 2, 4>, double>();
}

/// A series of 19 steps.
struct Series {
  static constexpr void define(GraphBuilder& g) {
    const Tensor x =
        g.placeholder<double>("x", {g.dynamic("batch"), 19, 3}) * g.variable<double>("scale", {3}, uniform(0.5, 1.5));
    const Tensor filter = g.variable<double>("filter", {4, 3, 5}, uniform(-1, 1));
    learn(g, x, conv1d(x, filter, 2, valid, 3));
  }
};
TEST(Convolution, AlongOneDimension) { test_windows<Series, double>(); }

}  // namespace strided_conv_test
}  // namespace crochet
