// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <crochet/kernels/cuda/loop_parts.hpp>

#include <cstdint>

namespace crochet::cuda {
namespace loop_parts_test {

constexpr std::int64_t bytes_of_a_total = 8;

// 2.4 GB of floats: each of eight warps keeps sums of all columns.
TEST(LoopParts, HaveRoomForSumsOfManyColumns) {
  for (const int columns : {1000, 300'000'000, 1 << 29}) {
    const LoopParts parts = LoopParts::of(LoopForm::rows, 2, columns);
    EXPECT_EQ(parts.parts, 1);
    EXPECT_EQ(parts.room(1, 0, columns).bytes, bytes_of_a_total * LoopParts::warps * columns);
    EXPECT_EQ(parts.place(7, columns - 1, columns), std::int64_t{8} * columns - 1);
  }
}

}  // namespace loop_parts_test
}  // namespace crochet::cuda
