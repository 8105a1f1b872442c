// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <crochet/kernels/cuda/grid_barrier.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace crochet::cuda {
namespace grid_barrier_test {

/// Blocks that arrive at barriers, one after another.
class Grid {
 public:
  explicit Grid(std::uint32_t blocks) : before_(blocks), arrived_(blocks) {}

  /// Block `block` passes its barrier if it may, and arrives at the next one. Returns whether it did.
  bool advance(std::uint32_t block) {
    if (arrived_[block] > 0 && !GridBarrier::is_over(before_[block], counter_)) return false;
    before_[block] = counter_;
    counter_ += GridBarrier::arrival(block, static_cast<std::uint32_t>(before_.size()));
    ++arrived_[block];
    return true;
  }
  int least() const { return *std::min_element(arrived_.begin(), arrived_.end()); }
  int most() const { return *std::max_element(arrived_.begin(), arrived_.end()); }

 private:
  std::uint32_t counter_ = 0;
  std::vector<std::uint32_t> before_;
  std::vector<int> arrived_;
};

// The counter wraps in every second round. 132 does not divide 2^32.
TEST(GridBarrier, HoldsWhenItsCounterWraps) {
  constexpr int rounds = 20;
  for (const std::uint32_t blocks : {1U, 2U, 3U, 132U, 148U}) {
    Grid grid(blocks);
    std::uint32_t block = 0;
    for (std::uint32_t attempt = 0; attempt < 4 * rounds * blocks && grid.least() < rounds; ++attempt) {
      block = (block + 1 + attempt % 7) % blocks;
      for (bool moved = true; moved && grid.most() <= rounds;) moved = grid.advance(block);
      ASSERT_LE(grid.most() - grid.least(), 1) << "a block has left a barrier too early, of " << blocks;
    }
    EXPECT_GE(grid.least(), rounds) << "nobody moves, of " << blocks;
  }
}

}  // namespace grid_barrier_test
}  // namespace crochet::cuda
