// SPDX-License-Identifier: Apache-2.0
// GridBarrier: the arithmetic of a barrier of all blocks with one counter of 32 bits, for any number of barriers.
#pragma once
#include <crochet/kernels/cuda/block.hpp>

namespace crochet::cuda {

/// The blocks of a round add 2^31 together: one of them adds what the others, who add 1 each, leave. So the top bit
/// changes when the last one arrives, and the other bits are then those of the round before.
struct GridBarrier {
  static constexpr std::uint32_t top = 0x80000000U;

  /// What a block adds to the counter when it arrives.
  CROCHET_ALWAYS_INLINE static constexpr std::uint32_t arrival(std::uint32_t block, std::uint32_t blocks) {
    return block == 0 ? top - (blocks - 1U) : 1U;
  }
  /// Whether all blocks have arrived. before: the counter when this one arrived, without it; now: the counter.
  CROCHET_ALWAYS_INLINE static constexpr bool is_over(std::uint32_t before, std::uint32_t now) {
    return ((before ^ now) & top) != 0;
  }
};

}  // namespace crochet::cuda
