// SPDX-License-Identifier: Apache-2.0
// Convolutions by Winograd's algorithm (kernels/cpu/conv/winograd.hpp) and their gradients on the CPU executor against
// the Oracle, in tiles of both sizes.
#include "windows.hpp"

namespace crochet {
namespace winograd_test {

TEST(Winograd, InSmallTiles) { test_windows<Convolution<float, 8, 9, 16, 20, 3, 3, same>, float>(); }
TEST(Winograd, InLargeTiles) { test_windows<Convolution<float, 23, 25, 16, 16, 3, 3, valid>, float>(); }

}  // namespace winograd_test
}  // namespace crochet
