// SPDX-License-Identifier: Apache-2.0
// The grid of fibers finds mistakes in kernels: barriers and waits that are left out, and barriers that only some
// threads reach. Its products are those of tensor cores.
#include <gtest/gtest.h>
#include <crochet/kernels/accumulate.hpp>
#include <crochet/kernels/cuda/join.hpp>

#include <cmath>
#include <limits>
#include <set>
#include <vector>

#include "fibers.hpp"

namespace emulation {
namespace fibers_test {

constexpr Order orders[] = {Order::forward, Order::backward, Order::shuffled};

TEST(Fibers, EveryThreadRunsOnce) {
  for (const Order order : orders) {
    FiberGrid grid(3, order);
    std::set<std::pair<int, int>> seen;
    grid.run([&](FiberBlock& block) {
      EXPECT_EQ(block.blocks(), 3);
      EXPECT_TRUE(seen.emplace(block.block(), block.thread()).second);
    });
    EXPECT_EQ(seen.size(), 3U * FiberGrid::threads);
  }
}

/// The sum over a block, by shared memory. Without `with_barrier` a barrier is left out.
int sum_of_block(FiberBlock& block, bool with_barrier) {
  struct Parts {
    int of[FiberGrid::threads];
  };
  Parts& parts = block.shared<Parts>();
  parts.of[block.thread()] = block.thread();
  block.sync();
  for (int half = block.threads / 2; half > 0; half /= 2) {
    if (block.thread() < half) parts.of[block.thread()] += parts.of[block.thread() + half];
    if (with_barrier) block.sync();
  }
  block.sync();
  return parts.of[0];
}

TEST(Fibers, AMissingBarrierOfABlockIsFoundInOneOrderAtLeast) {
  constexpr int expected = FiberGrid::threads * (FiberGrid::threads - 1) / 2;
  int wrong = 0;
  for (const Order order : orders) {
    FiberGrid grid(1, order);
    grid.run([&](FiberBlock& block) { EXPECT_EQ(sum_of_block(block, true), expected); });
    grid.run([&](FiberBlock& block) { wrong += sum_of_block(block, false) != expected ? 1 : 0; });
  }
  EXPECT_GT(wrong, 0);
}

TEST(Fibers, AMissingBarrierOfTheGridIsFound) {
  int wrong = 0;
  for (const bool with_barrier : {true, false}) {
    FiberGrid grid(2);
    int values[2]{};
    grid.run([&](FiberBlock& block) {
      if (block.thread() == 0) values[block.block()] = 1 + block.block();
      if (with_barrier) {
        block.grid_sync();
      } else {
        block.sync();
      }
      if (block.thread() == 0) wrong += values[1 - block.block()] != 2 - block.block() ? 1 : 0;
    });
    EXPECT_EQ(wrong > 0, !with_barrier);
  }
}

TEST(Fibers, ABarrierThatSomeThreadsPassByIsAnError) {
  FiberGrid grid(1);
  EXPECT_THROW(grid.run([](FiberBlock& block) {
    if (block.thread() % 2 == 0) block.sync();
  }),
               std::logic_error);
  EXPECT_THROW(grid.run([](FiberBlock& block) {
    if (block.thread() < 16) (void)block.shuffle_xor(1, 1);
  }),
               std::logic_error);
}

TEST(Fibers, OneBlockPassingByABarrierOfTheGridIsAnError) {
  FiberGrid grid(2);
  EXPECT_THROW(grid.run([](FiberBlock& block) {
    if (block.block() == 0) block.grid_sync();
  }),
               std::logic_error);
}

TEST(Fibers, JoinsAreTheSameInEveryThreadAndOrder) {
  for (const Order order : orders) {
    FiberGrid grid(2, order);
    grid.run([](FiberBlock& block) {
      const int t = block.thread();
      EXPECT_EQ(crochet::cuda::join_warp<crochet::kernel::Sum>(block, 1 << (t % 8)), 4 * 255);
      EXPECT_EQ(crochet::cuda::join_block<crochet::kernel::Max>(block, (t * 37) % 256), 255);
      const int sum = crochet::cuda::join_lanes_of_warps<crochet::kernel::Sum>(block, t / 32);
      if (t < 32) {
        EXPECT_EQ(sum, 28);
      }
    });
  }
}

TEST(Fibers, TheLastArrivalSeesAllOthers) {
  FiberGrid grid(3, Order::shuffled);
  std::uint32_t ticket = 0;
  int parts[3]{}, last = 0, total = 0;
  for (int run = 0; run < 2; ++run) {
    grid.run([&](FiberBlock& block) {
      if (block.thread() == 0) parts[block.block()] = 1 + block.block();
      if (!block.arrive(&ticket, 3)) return;
      ++last;
      total = parts[0] + parts[1] + parts[2];
    });
    EXPECT_EQ(last, (run + 1) * FiberGrid::threads);
    EXPECT_EQ(total, 6);
    EXPECT_EQ(ticket, 0U);
  }
}

/// Copies two groups of numbers, of which the thread waits for the first, or for none, and adds its neighbour's.
template <class Block>
std::vector<int> copied(Block& block, const int* from, bool with_wait) {
  struct Stages {
    int of[2][FiberGrid::threads];
  };
  auto& stages = block.template shared<Stages>();
  const int t = block.thread(), next = (t + 1) % Block::threads;
  for (int s = 0; s < 2; ++s) {
    block.template copy_async<4>(&stages.of[s][t], from + t, s == 0 || t % 2 == 0);
    block.commit_copies();
  }
  if (with_wait) block.template wait_copies<1>();
  block.sync();
  const int first = stages.of[0][next];
  block.sync();
  block.template wait_copies<0>();
  block.sync();
  return {first, stages.of[1][next]};
}

TEST(Fibers, ACopyIsThereBehindItsWaitAndNotEarlier) {
  std::vector<int> from(FiberGrid::threads);
  for (int t = 0; t < FiberGrid::threads; ++t) from[static_cast<std::size_t>(t)] = 100 + t;
  for (const Order order : orders) {
    int wrong = 0;
    FiberGrid grid(1, order);
    grid.run([&](FiberBlock& block) {
      const int next = (block.thread() + 1) % block.threads;
      EXPECT_EQ(copied(block, from.data(), true), (std::vector<int>{100 + next, next % 2 == 0 ? 100 + next : 0}));
    });
    grid.run([&](FiberBlock& block) {
      wrong += copied(block, from.data(), false)[0] != 100 + (block.thread() + 1) % block.threads ? 1 : 0;
    });
    EXPECT_EQ(wrong, FiberGrid::threads) << "a wait that is left out is found in any order";
  }
}

TEST(Fibers, WideCopiesAreWhole) {
  alignas(16) double from[2] = {1.5, -2.5};
  FiberGrid grid(1);
  grid.run([&](FiberBlock& block) {
    double(&to)[2] = block.shared<double[2]>();
    if (block.thread() == 3) block.copy_async<16>(to, from, true);
    block.commit_copies();
    block.wait_copies<0>();
    block.sync();
    EXPECT_EQ(to[0] + to[1], -1.0);
  });
}

TEST(TensorCores, RoundAsTheInstructions) {
  const float infinity = std::numeric_limits<float>::infinity();
  const auto tf32 = [](float x) { return std::bit_cast<float>(tf32_of(x)); };
  const auto bf16 = [](float x) { return bf16_value(bf16_of(x)); };
  EXPECT_EQ(tf32(1 + 0x1p-10F), 1 + 0x1p-10F);
  EXPECT_EQ(tf32(1 + 0x1p-11F), 1 + 0x1p-10F) << "of two the larger magnitude";
  EXPECT_EQ(tf32(-1 - 0x1p-11F), -1 - 0x1p-10F);
  EXPECT_EQ(tf32(1 + 0x1p-12F), 1);
  EXPECT_EQ(bf16(1 + 0x1p-7F), 1 + 0x1p-7F);
  EXPECT_EQ(bf16(1 + 0x1p-8F), 1) << "of two the even one";
  EXPECT_EQ(bf16(1 + 3 * 0x1p-8F), 1 + 0x1p-6F);
  EXPECT_EQ(bf16(std::numeric_limits<float>::max()), infinity);
  for (const float x : {infinity, -infinity, 0.0F, -0.5F}) {
    EXPECT_EQ(tf32(x), x);
    EXPECT_EQ(bf16(x), x);
  }
  EXPECT_TRUE(std::isnan(tf32(std::nanf(""))));
  EXPECT_TRUE(std::isnan(bf16(std::nanf(""))));
}

/// Products of small integers are exact: 16 x 8 words times 8 words x 8, with `in_word` elements a word.
template <class Multiply>
void multiplies(int in_word, const Multiply& multiply) {
  const auto left = [](int row, int k) { return static_cast<float>((row * 5 + k * 3) % 7 - 3); };
  const auto right = [](int k, int column) { return static_cast<float>((column * 2 + k * 11) % 9 - 4); };
  for (const Order order : orders) {
    FiberGrid grid(1, order);
    grid.run([&](FiberBlock& block) {
      const int lane = block.thread() % 32, g = lane / 4, t = lane % 4;
      const auto word = [&](const auto& x, int w) {
        return in_word == 1 ? block.round_tf32(x(w)) : block.round_bf16(x(2 * w), x(2 * w + 1));
      };
      std::uint32_t a[4], b[2];
      for (int i = 0; i < 4; ++i) a[i] = word([&](int k) { return left(g + i % 2 * 8, k); }, t + i / 2 * 4);
      for (int i = 0; i < 2; ++i) b[i] = word([&](int k) { return right(k, g); }, t + i * 4);
      float c[4] = {1, 2, 3, 4};
      multiply(block, c, a, b);
      multiply(block, c, a, b);
      for (int i = 0; i < 4; ++i) {
        float expected = 0;
        for (int k = 0; k < 8 * in_word; ++k) expected += left(g + i / 2 * 8, k) * right(k, 2 * t + i % 2);
        EXPECT_EQ(c[i], static_cast<float>(1 + i) + 2 * expected) << lane << " " << i;
      }
    });
  }
}

TEST(TensorCores, MultiplyFragments) {
  multiplies(1, [](auto& block, auto& c, auto& a, auto& b) { block.multiply_tf32(c, a, b); });
  multiplies(2, [](auto& block, auto& c, auto& a, auto& b) { block.multiply_bf16(c, a, b); });
}

TEST(TensorCores, AProductThatSomeLanesPassByIsAnError) {
  FiberGrid grid(1);
  EXPECT_THROW(grid.run([](FiberBlock& block) {
    float c[4]{};
    const std::uint32_t a[4]{}, b[2]{};
    if (block.thread() != 5) block.multiply_tf32(c, a, b);
  }),
               std::logic_error);
}

}  // namespace fibers_test
}  // namespace emulation
