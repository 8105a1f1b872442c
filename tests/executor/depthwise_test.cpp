// SPDX-License-Identifier: Apache-2.0
// Depthwise convolutions and their gradients on the CPU executor against the Oracle.
#include "windows.hpp"

namespace crochet {
namespace depthwise_test {

template <class T, std::int64_t H, std::int64_t W, std::int64_t C, std::int64_t M, std::int32_t Kh, std::int32_t Kw,
          Padding P, std::int32_t Sh = 1, std::int32_t Sw = 1, std::int32_t Dh = 1, std::int32_t Dw = 1>
struct Depthwise {
  static constexpr void define(GraphBuilder& g) {
    const Tensor x = image_of<T, H, W, C>(g);
    const Tensor filter = g.variable<T>("filter", {Kh, Kw, C, M}, uniform(-1, 1));
    learn(g, x, depthwise_conv2d(x, filter, {Sh, Sw}, P, {Dh, Dw}));
  }
};

TEST(Depthwise, Same3x3) { test_windows<Depthwise<float, 7, 11, 37, 1, 3, 3, same>, float>(); }
TEST(Depthwise, OneChannel) { test_windows<Depthwise<double, 5, 6, 1, 1, 2, 3, same>, double>(); }
TEST(Depthwise, SeveralFiltersAChannel) { test_windows<Depthwise<float, 8, 5, 7, 3, 3, 2, same>, float>(); }
TEST(Depthwise, ValidStridedDilated) {
  test_windows<Depthwise<double, 12, 13, 17, 2, 3, 3, valid, 2, 3, 3, 2>, double>();
}
TEST(Depthwise, StrideBeyondTheWindow) { test_windows<Depthwise<float, 9, 10, 20, 2, 1, 2, same, 3, 3>, float>(); }
TEST(Depthwise, WithoutABorder) { test_windows<Depthwise<float, 9, 8, 40, 1, 3, 3, valid>, float>(); }
TEST(Depthwise, ManyChannelsStrided) { test_windows<Depthwise<float, 6, 9, 70, 1, 3, 3, same, 2, 2>, float>(); }
TEST(Depthwise, WindowsWiderThanTheImage) { test_windows<Depthwise<float, 4, 2, 20, 1, 5, 5, same>, float>(); }
TEST(Depthwise, ThreeTapsApart) { test_windows<Depthwise<float, 8, 9, 33, 1, 3, 3, same, 1, 1, 2, 2>, float>(); }

}  // namespace depthwise_test
}  // namespace crochet
