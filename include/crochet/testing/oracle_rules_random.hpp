// SPDX-License-Identifier: Apache-2.0
// The oracle's rules of random tensors, word by word from the generator.
#pragma once
#include <cmath>

#include <crochet/graph/ops/random.hpp>
#include <crochet/kernels/random.hpp>
#include <crochet/testing/oracle_array.hpp>

namespace crochet::testing {

namespace detail {

/// Word number `i` of a random tensor.
inline std::uint32_t random_word(const Use& u, std::size_t i) {
  const std::uint64_t block = i / 64 * 16 + i % 16, state = static_cast<std::uint64_t>(u.in[0]->data[0]);
  const auto low = [](std::uint64_t x) { return static_cast<std::uint32_t>(x); };
  const auto key = [&](std::size_t k) { return static_cast<std::uint32_t>(u.attributes.ints[k]); };
  return kernel::philox({low(block), low(block >> 32U), low(state), low(state >> 32U)}, {key(0), key(1)})[i / 16 % 4];
}
/// In [0, 1): 53 bits of two words that are `apart` words apart, or 24 bits of one word.
inline double random_unit(const Use& u, std::size_t i, std::size_t apart) {
  if (apart == 0) return (random_word(u, i) >> 8U) * 0x1p-24;
  return random_word(u, i) * 0x1p-32 + (random_word(u, i + apart) >> 11U) * 0x1p-53;
}
inline void random_bool(const Use& u) {
  for (std::size_t i = 0; i < u.out.data.size(); ++i) {
    u.out.data[i] = random_word(u, i) < std::floor(u.attributes.reals[0] * 0x1p32) ? 1 : 0;
  }
}
inline void random_uniform(const Use& u) {
  for (std::size_t i = 0; i < u.out.data.size(); ++i) {
    u.out.data[i] = u.type == DType::float32 ? random_unit(u, i, 0) : random_unit(u, i / 32 * 64 + i % 32, 32);
  }
}
inline void random_normal(const Use& u) {
  const bool single = u.type == DType::float32;
  const std::size_t half = single ? 32 : 16;
  for (std::size_t i = 0; i < u.out.data.size(); ++i) {
    const std::size_t first = i / (2 * half) * 64 + i % half;
    const double radius = std::sqrt(-2 * std::log(1 - random_unit(u, first, single ? 0 : 16)));
    const double angle = 2 * std::numbers::pi * random_unit(u, first + 32, single ? 0 : 16);
    u.out.data[i] = radius * (i % (2 * half) < half ? std::cos(angle) : std::sin(angle));
  }
}

}  // namespace detail

inline void add_random_rules(std::map<const Op*, KernelRule>& rules) {
  rules[&op::random_bool] = detail::random_bool;
  rules[&op::random_uniform] = detail::random_uniform;
  rules[&op::random_normal] = detail::random_normal;
}

}  // namespace crochet::testing
