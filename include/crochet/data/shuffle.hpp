// SPDX-License-Identifier: Apache-2.0
// A random order that is the same on every machine, compiler and standard library for the same seed and epoch. (The
// algorithms of std::shuffle and the standard distributions depend on the library, so their results differ.)
#pragma once

#include <crochet/base/config.hpp>

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <utility>

namespace crochet {

/// SplitMix64 (Steele, Lea and Flood): 64 random bits per call, with one word of state.
class SplitMix64 {
 public:
  constexpr explicit SplitMix64(std::uint64_t seed) : state_(seed) {}

  constexpr std::uint64_t operator()() {
    std::uint64_t bits = state_ += 0x9e3779b97f4a7c15U;
    bits = (bits ^ bits >> 30) * 0xbf58476d1ce4e5b9U;
    bits = (bits ^ bits >> 27) * 0x94d049bb133111ebU;
    return bits ^ bits >> 31;
  }

  /// Uniform in [0, bound), without bias (Lemire's multiply and reject); `bound` must not be 0.
  constexpr std::uint32_t below(std::uint32_t bound) {
    const std::uint32_t too_small = (0U - bound) % bound;
    for (;;) {
      const std::uint64_t product = ((*this)() >> 32) * bound;
      if (static_cast<std::uint32_t>(product) >= too_small) return static_cast<std::uint32_t>(product >> 32);
    }
  }

 private:
  std::uint64_t state_;
};

/// Fills `order` with the permutation of 0 ... size-1 for this seed and epoch (Fisher and Yates). It depends on nothing
/// else, so every epoch's order can be computed on its own.
constexpr void shuffled_order(std::span<std::uint32_t> order, std::uint64_t seed, std::uint64_t epoch) {
  std::iota(order.begin(), order.end(), 0U);
  SplitMix64 random(SplitMix64(seed)() ^ SplitMix64(~epoch)());
  for (std::size_t left = order.size(); left > 1; --left)
    std::swap(order[left - 1], order[random.below(static_cast<std::uint32_t>(left))]);
}

}  // namespace crochet
