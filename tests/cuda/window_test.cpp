// SPDX-License-Identifier: Apache-2.0
// The geometry of windows on a device: which positions of a dimension are multiples of the stride.
#include <crochet/kernels/cuda/window.hpp>

#include <gtest/gtest.h>

#include <cstdint>

namespace crochet::cuda {
namespace window_test {

/// The gradient's axis of a window of 1 over `n` positions, every `stride`-th one.
detail::WindowAxis back_axis(int n, int stride) {
  return detail::WindowAxis(n, (n + stride - 1) / stride, 1, stride, 1).back();
}

TEST(WindowAxis, FindsTheMultiplesOfTheStrideInLongDimensions) {
  const int most = INT32_MAX - (1 << 17);
  for (const int stride : {2, 3, 5, 7, 100, 65'537}) {
    const detail::WindowAxis axis = back_axis(most, stride);
    for (const int around : {0, 1 << 22, 1 << 23, 1 << 24, 1 << 25, 21'000'000, 25'200'000, 1 << 28, 1 << 30, most}) {
      const int end = around < most - 1000 ? around + 1000 : most;
      for (int s = around - 1000; s < end; ++s) {
        const int expected = s >= 0 && s % stride == 0 ? s / stride : -1;
        ASSERT_EQ(axis.inside(s), expected) << s << " of stride " << stride;
      }
    }
  }
}

}  // namespace window_test
}  // namespace crochet::cuda
