// SPDX-License-Identifier: Apache-2.0
// Convolutions and their gradients on the CPU executor against the Oracle: kernel sizes, paddings and channel counts,
// most of which fill no panel, with and without a fused epilogue.
#include "windows.hpp"

namespace crochet {
namespace conv_test {

TEST(Convolution, Same3x3) { test_windows<Convolution<float, 7, 5, 3, 17, 3, 3, same>, float>(); }
TEST(Convolution, OneChannel) { test_windows<Convolution<float, 9, 31, 1, 33, 3, 3, same>, float>(); }
TEST(Convolution, FullPanels) { test_windows<Convolution<float, 3, 16, 32, 64, 3, 3, same>, float>(); }
TEST(Convolution, LargeFilter) { test_windows<Convolution<float, 3, 4, 48, 160, 3, 3, same>, float>(); }
TEST(Convolution, WideImage) { test_windows<Convolution<double, 3, 150, 5, 21, 2, 3, same>, double>(); }
TEST(Convolution, OnePixelWindow) { test_windows<Convolution<float, 5, 7, 13, 40, 1, 1, same>, float>(); }
TEST(Convolution, WindowAsLargeAsTheImage) { test_windows<Convolution<double, 5, 6, 2, 19, 5, 6, valid>, double>(); }
TEST(Convolution, WindowLargerThanTheImage) { test_windows<Convolution<float, 2, 1, 3, 4, 5, 5, same>, float>(); }

}  // namespace conv_test
}  // namespace crochet
