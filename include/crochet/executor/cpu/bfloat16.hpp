// SPDX-License-Identifier: Apache-2.0
// Bfloat16Cpu: Cpu with products of bfloat16 numbers, summed in float.
#pragma once
#include <crochet/executor/cpu.hpp>
#include <crochet/kernels/cpu/bfloat16_tiles.hpp>

namespace crochet {

/// Like Cpu, with mixed precision: the operands of matrix products of floats are rounded to bfloat16 (8 significant
/// bits, the range of float), to nearest. Sums, results, variables and all else stay in float.
using Bfloat16Cpu = BasicCpu<kernel::Bfloat16Tiles>;

}  // namespace crochet
