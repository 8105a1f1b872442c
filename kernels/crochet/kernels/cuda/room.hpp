// SPDX-License-Identifier: Apache-2.0
// The memory that a step needs beside its operands.
#pragma once
#include <cstdint>

#include <crochet/base/config.hpp>
#include <crochet/kernels/cuda/table.hpp>

namespace crochet::cuda {

/// The most that the steps of a plan use at the same time is allocated before a run.
struct Room {
  std::int64_t bytes = 0;    ///< scratch memory
  std::int32_t tickets = 0;  ///< counters of finished parts
  std::int32_t tile = 0;     ///< rows and columns of the tiles of its products; 0: none
};

/// The sizes of a step, from which a kernel's `static constexpr Room room(const Sizes&)` computes its needs. Kernels
/// that need none have no such function.
struct Sizes {
  const TableStep& step;
  const TableOperand* operands;  ///< the result, then the operands
  std::int64_t element_bytes;    ///< of the result
  int blocks;                    ///< of the grid; no result may depend on it

  CROCHET_ALWAYS_INLINE constexpr const TableOperand& out() const { return operands[0]; }
  CROCHET_ALWAYS_INLINE constexpr const TableOperand& in(int i) const { return operands[1 + i]; }
};

}  // namespace crochet::cuda
