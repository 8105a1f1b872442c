// SPDX-License-Identifier: Apache-2.0
// The grid of fibers finds mistakes in kernels: barriers that are left out, and barriers that only some threads reach.
#include <gtest/gtest.h>
#include <crochet/kernels/accumulate.hpp>
#include <crochet/kernels/cuda/join.hpp>

#include <set>

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

}  // namespace fibers_test
}  // namespace emulation
