// SPDX-License-Identifier: Apache-2.0
// GpuUse: memory, load, temperature and power of a GPU at one moment.
#pragma once

#include <cstdint>
#include <optional>

namespace crochet {

/// What a GPU reports. Values that it does not support are empty. All programs on the GPU count.
struct GpuUse {
  std::int64_t step = -1;
  std::int64_t memory_used = 0, memory_free = 0, memory_total = 0;  ///< bytes
  std::optional<double> busy{};         ///< the share of the last sample period in which a kernel ran, 0 to 1
  std::optional<double> memory_busy{};  ///< the share in which memory was read or written
  std::optional<double> celsius{};      ///< temperature of the chip
  std::optional<double> watts{};        ///< power of the board
};

}  // namespace crochet
