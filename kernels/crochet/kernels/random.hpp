// SPDX-License-Identifier: Apache-2.0
// Counter-based random numbers. A number is a function of seed, stream and index, so it does not depend on the order of
// drawing or on the number of threads.
#pragma once
#include <array>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <string_view>

#include <crochet/base/instruction_set.hpp>
#include <crochet/kernels/philox.hpp>

namespace crochet::kernel::CROCHET_ISA {

/// A named stream of random numbers.
class Random {
 public:
  constexpr Random(std::uint64_t seed, std::string_view name) : seed_(seed), stream_(hash(name)) {}

  /// In [0, 1), a multiple of 2^-53.
  constexpr double uniform(std::uint64_t index) const { return unit(block(index, 0), 0); }

  /// Standard normal; values beyond two standard deviations are drawn again.
  double truncated_normal(std::uint64_t index) const {
    for (std::uint32_t attempt = 0;; ++attempt) {
      const PhiloxBlock b = block(index, attempt);
      // Box-Muller. 1 - u lies in (0, 1], where the logarithm is finite.
      const double r = std::sqrt(-2 * std::log(1 - unit(b, 0))), angle = 2 * std::numbers::pi * unit(b, 2);
      const double x = r * std::cos(angle), y = r * std::sin(angle);
      if (std::abs(x) < 2) return x;
      if (std::abs(y) < 2) return y;
    }
  }

 private:
  static constexpr std::uint64_t hash(std::string_view name) {  // FNV-1a
    std::uint64_t h = 0xcbf29ce484222325U;
    for (char c : name) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
    return h;
  }
  constexpr PhiloxBlock block(std::uint64_t index, std::uint32_t attempt) const {
    const auto low = [](std::uint64_t x) { return static_cast<std::uint32_t>(x); };
    const auto high = [](std::uint64_t x) { return static_cast<std::uint32_t>(x >> 32U); };
    return philox({low(index), high(index) ^ (attempt << 8U), low(stream_), high(stream_)}, {low(seed_), high(seed_)});
  }
  static constexpr double unit(const PhiloxBlock& b, std::size_t at) {
    const std::uint64_t bits = (std::uint64_t{b[at]} << 32U | b[at + 1]) >> 11U;
    return static_cast<double>(bits) * 0x1p-53;
  }

  std::uint64_t seed_, stream_;
};

}  // namespace crochet::kernel::CROCHET_ISA
