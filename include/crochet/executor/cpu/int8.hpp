// SPDX-License-Identifier: Apache-2.0
// Int8Cpu: Cpu with products of integers of 8 bits, for inference.
#pragma once
#include <crochet/executor/cpu.hpp>
#include <crochet/kernels/cpu/int8_tiles.hpp>

namespace crochet {

/// Like Cpu, for inference: the operands of matrix products and convolutions of floats are rounded to integers of 8
/// bits.
/// - A weight matrix has a scale for each column, a filter for each of its channels; the rows of a left operand have a
///   scale each, and so has each image of a convolution. Scales follow from the largest magnitude in each run, so no
///   calibration is needed. Sums are exact; results, variables and all else stay in float.
/// - Products of at most four rows, or of less than 4 or more than 65,536 numbers for a result, are products of floats.
/// - A NaN or infinite number makes all results of its row, image or column NaN.
/// - A run that changes a variable is a compile error.
using Int8Cpu = BasicCpu<kernel::Int8Tiles>;

}  // namespace crochet
