// SPDX-License-Identifier: Apache-2.0
// What the headers of kernels/ use of graph/, for NVRTC: operations as names without rules. Every header of graph/ that
// they include stands for this file (executor/cuda/device_headers.ipp).
#pragma once
#include <cstdint>

namespace crochet {

enum class Layout : std::uint8_t { row_major, panels };
enum class BroadcastMode : std::uint8_t { none, full, row, column, scalar };

struct Op {
  int unused = 0;
};
constexpr int cost_of(const Op&) { return 1; }

namespace op {

template <std::size_t Rank>
inline constexpr Op batched_matmul{};
#define CROCHET_OPERATION(name) inline constexpr Op name{};
#include <crochet/kernels/cuda/text/operations.h>
#undef CROCHET_OPERATION

}  // namespace op
}  // namespace crochet
