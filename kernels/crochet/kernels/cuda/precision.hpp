// SPDX-License-Identifier: Apache-2.0
// MatmulPrecision: how products of floats round their operands on a device.
#pragma once
#include <cstdint>

namespace crochet {

/// The precision of products on a GPU: matrix products, convolutions, attention, and their gradients. It rounds the
/// operands of a product as they are loaded. Sums, results, variables and all else stay in float. Products of doubles
/// are always products of doubles. (torch.set_float32_matmul_precision, jax_default_matmul_precision.)
enum class MatmulPrecision : std::uint8_t {
  fp32,  ///< 24 significant bits: float arithmetic
  tf32,  ///< 11 significant bits, the range of float; tensor cores, since sm_80
  bf16,  ///< 8 significant bits, the range of float; tensor cores, since sm_80
};

}  // namespace crochet
