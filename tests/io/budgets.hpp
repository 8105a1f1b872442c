// SPDX-License-Identifier: Apache-2.0
// The memory budgets of docs/file-formats.md. The memory tests and the fuzz targets compare the readers' memory with
// them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace crochet::test {

/// Peak memory in bytes: a factor for the bytes of input, plus a constant.
struct Budget {
  std::size_t per_byte, constant;
  [[nodiscard]] constexpr std::size_t of(std::size_t input) const { return per_byte * input + constant; }
};

inline constexpr std::size_t kib = 1024, mib = 1024 * kib;

inline constexpr Budget index_budget{48, mib};
inline constexpr Budget compressed_index_budget{4 * 48, 16 * mib};
inline constexpr Budget data_budget{40, mib};
inline constexpr Budget safetensors_budget{32, mib};
inline constexpr Budget state_budget{64, mib};
inline constexpr std::size_t bytes_per_listed_checkpoint = kib;
inline constexpr Budget event_budget{32, mib};
inline constexpr Budget hooks_budget{32, mib};

/// idx, plain or gzipped: for the bytes of the file, and for the elements that the file contains.
constexpr Budget idx_budget(std::size_t elements) { return {8, mib + 3 * elements}; }

}  // namespace crochet::test
