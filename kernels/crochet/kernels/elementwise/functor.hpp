// SPDX-License-Identifier: Apache-2.0
// The function that an elementwise operation computes. `Elementwise<&op>` has one function for vectors and scalars: T
// is the operands' element type, V a register of it (a vector or one element; bools are bytes 0 or 1). For a custom
// operation specialise it in your own code.
#pragma once
#include <crochet/graph/core/op.hpp>
#include <crochet/kernels/simd_native.hpp>

namespace crochet {

template <const Op* O>
struct Elementwise;  // no functor for this operation: specialise crochet::Elementwise<&your_op>

}  // namespace crochet
