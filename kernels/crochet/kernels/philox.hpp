// SPDX-License-Identifier: Apache-2.0
// Philox4x32-10: Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011.
#pragma once
#include <array>
#include <cstdint>

#include <crochet/base/config.hpp>
#include <crochet/base/instruction_set.hpp>

namespace crochet::kernel::CROCHET_ISA {

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

}  // namespace crochet::kernel::CROCHET_ISA
