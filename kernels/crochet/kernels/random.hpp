// SPDX-License-Identifier: Apache-2.0
// Counter-based random numbers. A number is a function of seed, stream and index, so it does not depend on the order of
// drawing or on the number of threads. Philox4x32-10: Salmon et al., "Parallel random numbers: as easy as 1, 2, 3",
// SC 2011.
#pragma once
#include <array>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <string_view>

namespace crochet::kernel {

using PhiloxBlock = std::array<std::uint32_t, 4>;

inline constexpr std::uint64_t philox_factors[2] = {0xD2511F53U, 0xCD9E8D57U};

constexpr PhiloxBlock philox_round(const PhiloxBlock& c, const std::array<std::uint32_t, 2>& key) {
  const std::uint64_t a = philox_factors[0] * c[0], b = philox_factors[1] * c[2];
  return {static_cast<std::uint32_t>(b >> 32U) ^ c[1] ^ key[0], static_cast<std::uint32_t>(b),
          static_cast<std::uint32_t>(a >> 32U) ^ c[3] ^ key[1], static_cast<std::uint32_t>(a)};
}
constexpr std::array<std::uint32_t, 2> next_philox_key(const std::array<std::uint32_t, 2>& key) {
  return {key[0] + 0x9E3779B9U, key[1] + 0xBB67AE85U};
}

/// One block of four words for a counter and a key.
constexpr PhiloxBlock philox(PhiloxBlock c, std::array<std::uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    c = philox_round(c, key);
    key = next_philox_key(key);
  }
  return c;
}

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

}  // namespace crochet::kernel
