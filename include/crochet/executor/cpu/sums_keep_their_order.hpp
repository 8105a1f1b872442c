// SPDX-License-Identifier: Apache-2.0
// sums_keep_their_order(): that the compiler does not exchange the terms of sums of floats.
#pragma once
#include <crochet/base/config.hpp>
#include <crochet/base/error.hpp>
#include <crochet/base/instruction_set.hpp>

namespace crochet::cpu::CROCHET_ISA {

/// Throws LogicError if this file is compiled with -fassociative-math or -funsafe-math-optimizations: e^x, and what is
/// computed from it, would be wrong by up to 40 %. needs_cpu.hpp rejects what has a macro; clang has none for these.
/// Owner: a type of the file, because another file can have other options.
template <class Owner>
CROCHET_COLD void sums_keep_their_order() {
  volatile float unknown = 1.25F;  // no constant for the compiler
  constexpr float to_integer = 0x1.8p23F;
  const float x = unknown;
  if ((x + to_integer) - to_integer != 1) {
    throw LogicError(
        "crochet: this program is compiled with an option that changes the order of sums, and the kernels round by it: "
        "compile the file of the model with -fno-fast-math (-fno-unsafe-math-optimizations, -fno-associative-math)");
  }
}

}  // namespace crochet::cpu::CROCHET_ISA
