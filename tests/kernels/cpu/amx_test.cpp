// SPDX-License-Identifier: Apache-2.0
// Code compiled for AMX where Linux refuses the tile registers, as it does while a thread has a small alternate signal
// stack: products are those of vectors. A program of its own, since a process requests the registers once.
#include <csignal>
#include <cstdint>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <crochet/kernels/cpu/bfloat16_tiles.hpp>
#include <crochet/kernels/cpu/int8_tiles.hpp>

namespace crochet::kernel {
namespace {

/// Integers of one byte, whose products both policies sum exactly. Each row and column has one of 127.
template <class Policy>
void multiply_integers(std::int64_t m, std::int64_t n, std::int64_t depth, bool turned) {
  const auto integer = [](std::int64_t i) { return static_cast<float>(i % 127 == 0 ? 127 : i * 7 % 15 - 7); };
  std::vector<float> a(static_cast<std::size_t>(m * depth)), b(static_cast<std::size_t>(depth * n));
  const auto left = [&](std::int64_t i, std::int64_t k) -> float& {
    return a[static_cast<std::size_t>(turned ? k * m + i : i * depth + k)];
  };
  for (std::int64_t i = 0; i < m; ++i) {
    for (std::int64_t k = 0; k < depth; ++k) left(i, k) = integer(k * (i + 1));
  }
  const auto right = [&](std::int64_t k, std::int64_t j) -> float& { return b[static_cast<std::size_t>(k * n + j)]; };
  for (std::int64_t k = 0; k < depth; ++k) {
    for (std::int64_t j = 0; j < n; ++j) right(k, j) = integer(k * (j + 2));
  }
  std::vector<float> c(static_cast<std::size_t>(m * n), -1);
  Barrier barrier(1);
  std::vector<AlignedBytes> scratch(1);
  Worker worker(0, 1, barrier, scratch);
  Policy::multiply(row_major(std::as_const(a).data(), turned ? m : depth, turned),
                   row_major(std::as_const(b).data(), n), depth, {0, m}, {0, n}, worker, StoreTo<float>{c.data(), n});
  for (std::int64_t i = 0; i < m; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      float sum = 0;
      for (std::int64_t k = 0; k < depth; ++k) sum += left(i, k) * right(k, j);
      ASSERT_EQ(c[static_cast<std::size_t>(i * n + j)], sum) << i << ' ' << j;
    }
  }
}

TEST(AmxRefused, ProductsAreThoseOfVectors) {
  static char small[8192];
  stack_t stack{};
  stack.ss_sp = small;
  stack.ss_size = sizeof small;
  ASSERT_EQ(sigaltstack(&stack, nullptr), 0);
  ASSERT_FALSE(has_amx());
  for (const bool turned : {false, true}) {
    multiply_integers<Bfloat16Tiles>(37, 70, 65, turned);
    multiply_integers<Int8Tiles>(37, 70, 65, turned);
    multiply_integers<Bfloat16Tiles>(16, 32, 32, turned);
    multiply_integers<Int8Tiles>(16, 32, 64, turned);
  }
}

}  // namespace
}  // namespace crochet::kernel
