// SPDX-License-Identifier: Apache-2.0
// Division of many numbers by the same one, as a multiplication and a shift (Granlund and Montgomery, "Division by
// invariant integers using multiplication", 1994).
#pragma once
#include <crochet/kernels/cuda/block.hpp>

namespace crochet::cuda {

/// Divides numbers of [0, 2^31). A divisor below 1 counts as 1.
class Divisor {
 public:
  CROCHET_DEVICE_INLINE explicit Divisor(int n) : n_(n < 1 ? 1 : n), shift_(0) {
    while (shift_ < 31 && (std::uint32_t{1} << shift_) < static_cast<std::uint32_t>(n_)) ++shift_;
    const auto n64 = static_cast<std::uint64_t>(n_);
    factor_ = static_cast<std::uint32_t>(((std::uint64_t{1} << (31 + shift_)) + n64 - 1) / n64);
  }
  CROCHET_DEVICE_INLINE int quotient(int x) const {
    return static_cast<int>((std::uint64_t{factor_} * static_cast<std::uint32_t>(x)) >> (31 + shift_));
  }
  CROCHET_DEVICE_INLINE int remainder(int x, int quotient) const { return x - quotient * n_; }

 private:
  int n_, shift_;
  std::uint32_t factor_;  // 2^(31 + shift) / n, rounded up: below 2^32
};

}  // namespace crochet::cuda
