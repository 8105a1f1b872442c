// SPDX-License-Identifier: Apache-2.0
// Random numbers for tests, the same on every machine and in every run.
#pragma once
#include <cstdint>
#include <vector>

namespace crochet {

/// A linear congruential generator: the distributions of the standard library differ between implementations.
class Numbers {
 public:
  explicit Numbers(std::uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15U + 0x2545f4914f6cdd1dU) { next(); }

  /// In [0, n).
  int below(int n) { return static_cast<int>(next() % static_cast<std::uint32_t>(n)); }
  /// In [low, high).
  double between(double low, double high) { return low + (high - low) * (static_cast<double>(next()) * 0x1p-32); }
  std::vector<double> many(std::size_t n, double low, double high) {
    std::vector<double> v(n);
    for (double& x : v) x = between(low, high);
    return v;
  }
  /// Of either sign, with a magnitude in [0.1, 1): away from the kinks of relu, abs and division.
  std::vector<double> many(std::size_t n) {
    std::vector<double> v = many(n, 0.1, 1);
    for (double& x : v) x = below(2) == 0 ? x : -x;
    return v;
  }

 private:
  std::uint32_t next() {
    state_ = state_ * 6364136223846793005U + 1442695040888963407U;
    return static_cast<std::uint32_t>(state_ >> 32U);
  }
  std::uint64_t state_;
};

}  // namespace crochet
