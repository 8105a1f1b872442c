// SPDX-License-Identifier: Apache-2.0
// Convolutions by Winograd's algorithm (kernels/cpu/conv/winograd.hpp) and their gradients on the CPU executor against
// the Oracle, in tiles of both sizes.
#include "windows.hpp"

namespace crochet {
namespace winograd_test {

TEST(Winograd, InSmallTiles) { test_windows<Convolution<float, 8, 9, 16, 20, 3, 3, same>, float>(); }
TEST(Winograd, InLargeTiles) { test_windows<Convolution<float, 23, 25, 16, 16, 3, 3, valid>, float>(); }

/// The gradient of the filter is that of a convolution and its pooling.
template <std::int64_t H, std::int64_t W>
struct Pooled {
  static constexpr void define(GraphBuilder& g) {
    const Tensor x = image_of<float, H, W, 16>(g);
    const Tensor filter = g.variable<float>("filter", {3, 3, 16, 20}, uniform(-1, 1));
    learn(g, x, max_pool(relu(conv2d(x, filter)), 2));
  }
};
TEST(Winograd, BeforeAPoolingInSmallTiles) { test_windows<Pooled<8, 10>, float>(); }
TEST(Winograd, BeforeAPoolingInLargeTiles) { test_windows<Pooled<22, 24>, float>(); }

}  // namespace winograd_test
}  // namespace crochet
