// SPDX-License-Identifier: Apache-2.0
// The times at which a launch reaches the boundaries of its steps, written by the device itself.
#pragma once
#include <crochet/kernels/cuda/block.hpp>

namespace crochet::cuda {

/// Writes the time of a boundary if the launch measures its steps: of the first thread of the grid. Call it behind the
/// barrier that is there; without one, other blocks may still be in the steps before.
template <class Block>
CROCHET_DEVICE_INLINE void note_time(const Block& block, const Launch& launch, int boundary) {
  if (launch.step_times == nullptr || block.block() != 0 || block.thread() != 0) return;
  launch.step_times[boundary] = block.timer();
}

}  // namespace crochet::cuda
