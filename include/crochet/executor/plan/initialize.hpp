// SPDX-License-Identifier: Apache-2.0
// Initial values of variables.
#pragma once
#include <string_view>

#include <crochet/base/config.hpp>
#include <crochet/base/instruction_set.hpp>
#include <crochet/graph/core/initializer.hpp>
#include <crochet/kernels/random.hpp>

namespace crochet::cpu::CROCHET_ISA {

/// Element i of a variable's initial value.
[[gnu::noinline]] inline double first_value(const Attributes& a, const kernel::Random& random, std::int64_t i) {
  const auto at = static_cast<std::uint64_t>(i);
  switch (static_cast<Initializer::Kind>(a.ints[0])) {
    case Initializer::Kind::uniform:
      return a.reals[0] + (a.reals[1] - a.reals[0]) * random.uniform(at);
    case Initializer::Kind::truncated_normal:
      return a.reals[0] + a.reals[1] * random.truncated_normal(at);
    default:
      return a.reals[0];
  }
}

/// Fills `n` elements by the variable's initializer. Random values depend on the seed, the variable's name and the
/// element's index only.
template <class T>
CROCHET_COLD void initialize(T* data, std::int64_t n, const Attributes& a, std::string_view name, std::uint64_t seed) {
  const kernel::Random random(seed, name);
  for (std::int64_t i = 0; i < n; ++i) data[i] = static_cast<T>(first_value(a, random, i));
}

/// As above, for an element type known at run time.
CROCHET_COLD inline void initialize(void* data, DType type, std::int64_t n, const Attributes& a, std::string_view name,
                                    std::uint64_t seed) {
  switch (type) {
    case DType::float32:
      return initialize(static_cast<float*>(data), n, a, name, seed);
    case DType::float64:
      return initialize(static_cast<double*>(data), n, a, name, seed);
    case DType::int32:
      return initialize(static_cast<std::int32_t*>(data), n, a, name, seed);
    case DType::int64:
      return initialize(static_cast<std::int64_t*>(data), n, a, name, seed);
    case DType::uint8:
      return initialize(static_cast<std::uint8_t*>(data), n, a, name, seed);
    case DType::boolean:
      return initialize(static_cast<bool*>(data), n, a, name, seed);
    case DType::bfloat16:
      return initialize(static_cast<bfloat16*>(data), n, a, name, seed);
  }
}

}  // namespace crochet::cpu::CROCHET_ISA
