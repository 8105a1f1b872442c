// SPDX-License-Identifier: Apache-2.0
// Convolutions and their gradients on the CPU executor against the Oracle: kernel sizes, strides, dilations, paddings
// and channels that fit nothing, with and without something fused behind them.
#include "windows.hpp"

namespace crochet {
namespace {

/// H x W pixels of C channels, K filters of Kh x Kw.
template <class T, std::int64_t H, std::int64_t W, std::int64_t C, std::int64_t K, std::int32_t Kh, std::int32_t Kw,
          Padding P, std::int32_t Sh = 1, std::int32_t Sw = 1, std::int32_t Dh = 1, std::int32_t Dw = 1>
struct Convolution {
  static constexpr void define(GraphBuilder& g) {
    const Tensor x = image_of<T, H, W, C>(g);
    const Tensor filter = g.variable<T>("filter", {Kh, Kw, C, K}, uniform(-1, 1));
    learn(g, x, conv2d(x, filter, {Sh, Sw}, P, {Dh, Dw}));
  }
};

TEST(Convolution, Same3x3) { test_windows<Convolution<float, 7, 5, 3, 17, 3, 3, same>, float>(); }
TEST(Convolution, OneChannel) { test_windows<Convolution<float, 9, 31, 1, 33, 3, 3, same>, float>(); }
TEST(Convolution, FullPanels) { test_windows<Convolution<float, 5, 16, 32, 64, 3, 3, same>, float>(); }
TEST(Convolution, OnePixelWindow) { test_windows<Convolution<float, 5, 7, 13, 40, 1, 1, same>, float>(); }
TEST(Convolution, ValidStrided) { test_windows<Convolution<double, 8, 11, 5, 3, 3, 2, valid, 2, 3>, double>(); }
TEST(Convolution, SameStridedEvenWindow) { test_windows<Convolution<float, 9, 6, 1, 33, 2, 4, same, 2, 1>, float>(); }
TEST(Convolution, StrideBeyondTheWindow) { test_windows<Convolution<double, 7, 7, 17, 1, 1, 2, same, 3, 3>, double>(); }
TEST(Convolution, Strided7x7) { test_windows<Convolution<float, 13, 17, 3, 20, 7, 7, same, 2, 2>, float>(); }
TEST(Convolution, WindowAsLargeAsTheImage) { test_windows<Convolution<double, 5, 6, 2, 19, 5, 6, valid>, double>(); }
TEST(Convolution, WindowLargerThanTheImage) { test_windows<Convolution<float, 2, 1, 3, 4, 5, 5, same>, float>(); }
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
    const Tensor x = g.placeholder<double>("x", {g.dynamic("batch"), 19, 3}) * g.variable<double>("scale", {3}, ones());
    const Tensor filter = g.variable<double>("filter", {4, 3, 5}, uniform(-1, 1));
    learn(g, x, conv1d(x, filter, 2, valid, 3));
  }
};
TEST(Convolution, AlongOneDimension) { test_windows<Series, double>(); }

}  // namespace
}  // namespace crochet
