// SPDX-License-Identifier: Apache-2.0
// Whole, First: which lanes of a vector are used, for functions of a row (rows.hpp).
#pragma once
#include <crochet/base/instruction_set.hpp>
#include <crochet/kernels/simd.hpp>

namespace crochet::simd::CROCHET_ISA {

/// Which lanes of a vector are used: all, or the first n (0 <= n <= lanes).
struct Whole {
  static constexpr std::int64_t n = lanes;
};
struct First {
  std::int64_t n;
};

}  // namespace crochet::simd::CROCHET_ISA
