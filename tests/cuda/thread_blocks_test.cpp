// SPDX-License-Identifier: Apache-2.0
// Plans on real threads, for ThreadSanitizer: the kernels' barriers and those of the plan are enough. The test
// cuda.a_missing_barrier_is_a_race leaves one out.
#include <gtest/gtest.h>
#include <crochet/crochet.hpp>
#include <crochet/executor/cpu.hpp>
#include <crochet/executor/cuda/executor.hpp>

#include <cmath>
#include <cstdlib>
#include <latch>
#include <vector>

#include "emulation/queued_device.hpp"
#include "emulation/threads.hpp"

namespace crochet {
namespace thread_blocks_test {

using ThreadDevice = emulation::QueuedDevice<emulation::ThreadGrid, emulation::ThreadBlock>;

struct Mlp {
  static constexpr void define(GraphBuilder& g) {
    const Extent batch = g.dynamic("batch");
    const Tensor x = g.placeholder<float>("x", {batch, 70}), labels = g.placeholder<std::int32_t>("labels", {batch});
    const Tensor logits = dense(layer_norm(relu(dense(x, 33, "hidden")), "norm"), 5, "out");
    const Tensor loss = g.name("loss", sparse_softmax_cross_entropy(logits, labels));
    g.name("train", minimize(loss, Adam{.learning_rate = 1e-2}));
  }
};
using Train = Demand<Names<>, Names<Name<"train">>>;

template <class E>
std::vector<float> trained(E executor, int steps) {
  typename E::Workspace workspace;
  executor.initialize();
  std::vector<float> x(9 * 70), all;
  std::vector<std::int32_t> labels(9);
  for (int step = 0; step < steps; ++step) {
    for (std::size_t k = 0; k < x.size(); ++k) x[k] = std::sin(static_cast<float>(k) + static_cast<float>(step));
    for (std::size_t k = 0; k < labels.size(); ++k) labels[k] = static_cast<std::int32_t>(k) % 5;
    executor.template run<Train>(workspace, feed<"x">(x), feed<"labels">(labels));
  }
  executor.for_each_variable([&]<class T>(std::string_view, std::span<T> values, std::span<const std::int64_t>) {
    if constexpr (std::is_same_v<T, float>) all.insert(all.end(), values.begin(), values.end());
  });
  return all;
}

TEST(ThreadBlocks, TrainAsTheCpu) {
  const std::vector<float> expected = trained(Cpu{.threads = 1}.compile<Mlp>(), 3);
  const auto device = std::make_shared<ThreadDevice>(2);
  const std::vector<float> given = trained(cuda::Executor<ThreadDevice, Mlp>(device), 3);
  ASSERT_EQ(given.size(), expected.size());
  for (std::size_t k = 0; k < given.size(); ++k) EXPECT_NEAR(given[k], expected[k], 1e-5) << k;
}

/// Two values through shared memory and through memory, with or without the barriers between.
TEST(ThreadBlocks, PassValuesOn) {
  const bool with_barriers = std::getenv("CROCHET_LEAVE_OUT_BARRIERS") == nullptr;
  emulation::ThreadGrid grid(2);
  int values[2]{}, sums[2]{};
  grid.run([&](emulation::ThreadBlock& block) {
    int& first = block.shared<int>();
    if (block.thread() == 255) first = 1 + block.block();
    if (with_barriers) block.sync();
    if (block.thread() == 0) values[block.block()] = first;
    if (with_barriers) block.grid_sync();
    if (block.thread() == 0) sums[block.block()] = values[0] + values[1];
  });
  if (with_barriers) {
    EXPECT_EQ(sums[0], 3);
    EXPECT_EQ(sums[1], 3);
  }
}

/// The runs of a launch end behind the second one, in which the values of both blocks become infinite.
TEST(ThreadBlocks, StopBehindAValueThatIsNotFinite) {
  emulation::ThreadGrid grid(2);
  float values[40]{};
  auto* const base = reinterpret_cast<unsigned char*>(values);
  unsigned char* const bases[4]{base, base, base, base};
  const cuda::WatchedValue watched[2]{{{0, 0}, 1, 0}, {{4, 0}, 39, 1}};
  std::int32_t flags[2]{}, runs[2]{};
  cuda::Launch launch;
  launch.bases = bases, launch.base_count = 1, launch.times = 4;
  launch.watched = watched, launch.watched_count = 2, launch.flags = flags;
  for (int again = 0; again < 2; ++again) {
    grid.run([&](emulation::ThreadBlock& block) {
      for (int run = 0; cuda::begins_run(block, launch, run); ++run) {
        if (block.thread() != 0) continue;
        ++runs[block.block()];
        values[39 * block.block()] += run == 1 ? INFINITY : 1;
      }
    });
  }
  for (int block = 0; block < 2; ++block) {
    EXPECT_EQ(flags[block], 2);
    EXPECT_EQ(runs[block], 2) << "also in the launch behind";
  }
}

/// A node of a graph finds both values, whichever block is finished first, and changes nothing behind a failure.
TEST(ThreadBlocks, CheckTheValuesOfANode) {
  emulation::ThreadGrid grid(2);
  float values[2]{NAN, INFINITY};
  unsigned char* const bases[1]{reinterpret_cast<unsigned char*>(values)};
  const cuda::WatchedValue watched[2]{{{0, 0}, 1, 0}, {{4, 0}, 1, 1}};
  for (const int first : {0, 1}) {
    std::int32_t flags[2]{};
    cuda::Launch launch;
    launch.bases = bases, launch.base_count = 1, launch.is_node = 1, launch.end_step = 0;
    launch.watched = watched, launch.watched_count = 2, launch.flags = flags;
    for (const int run : {4, 5}) {
      launch.first_run = run;
      std::latch finished(emulation::ThreadGrid::threads);
      grid.run([&](emulation::ThreadBlock& block) {
        if (block.block() != first) finished.wait();
        EXPECT_FALSE(cuda::begins_run(block, launch, 0));
        if (block.block() == first) finished.count_down();
      });
      EXPECT_EQ(flags[0], 5) << first;
      EXPECT_EQ(flags[1], 5) << first;
    }
  }
}

TEST(ThreadBlocks, CopyAndMultiplyOnTensorCores) {
  emulation::ThreadGrid grid(1);
  const float from[2] = {1.5F, 2};
  float sums[emulation::ThreadGrid::threads]{};
  grid.run<emulation::ThreadBlockOf<MatmulPrecision::bf16>>([&](auto& block) {
    float(&factors)[2] = block.template shared<float[2]>();
    if (block.thread() < 2) block.template copy_async<4>(&factors[block.thread()], &from[block.thread()], true);
    block.commit_copies();
    block.template wait_copies<0>();
    block.sync();
    const std::uint32_t a = block.round_bf16(factors[0], factors[0]), b = block.round_bf16(factors[1], factors[1]),
                        one = block.round_tf32(1);
    float c[4]{};
    block.multiply_bf16(c, {a, a, a, a}, {b, b});
    block.multiply_tf32(c, {one, one, one, one}, {one, one});
    sums[block.thread()] = c[0] + c[1] + c[2] + c[3];
  });
  for (const float sum : sums) EXPECT_EQ(sum, 4 * (16 * 3 + 8));
}

}  // namespace thread_blocks_test
}  // namespace crochet
