// SPDX-License-Identifier: Apache-2.0
// Division of many numbers by the same one, as a multiplication and a shift (Granlund and Montgomery, "Division by
// invariant integers using multiplication", 1994).
#pragma once
#include <crochet/kernels/cuda/block.hpp>

namespace crochet::cuda {

/// Divides numbers of [0, 2^31). A divisor below 1 counts as 1.
class Divisor {
 public:
  CROCHET_DEVICE_INLINE explicit Divisor(int n) : n_(n < 1 ? 1 : n), inverse_(inverse(n_)) {}
  CROCHET_DEVICE_INLINE int quotient(int x) const {
    return static_cast<int>((std::uint64_t{inverse_.factor} * static_cast<std::uint32_t>(x)) >> (31 + inverse_.shift));
  }
  CROCHET_DEVICE_INLINE int remainder(int x, int quotient) const { return x - quotient * n_; }

 private:
  struct Inverse {
    int shift;
    std::uint32_t factor;  // 2^(31 + shift) / n, rounded up: below 2^32
  };
  // Not inlined: operands of products have up to seven divisors.
  CROCHET_DEVICE_NOINLINE static Inverse inverse(int n) {
    int shift = 0;
    while (shift < 31 && (std::uint32_t{1} << shift) < static_cast<std::uint32_t>(n)) ++shift;
    const auto n64 = static_cast<std::uint64_t>(n);
    return {shift, static_cast<std::uint32_t>(((std::uint64_t{1} << (31 + shift)) + n64 - 1) / n64)};
  }

  int n_;
  Inverse inverse_;
};

}  // namespace crochet::cuda
