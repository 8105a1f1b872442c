// SPDX-License-Identifier: Apache-2.0
// The memory of a predictor: a call allocates nothing after one with the largest batch, and weights are there once.
#include <malloc.h>

#include <gtest/gtest.h>

#include <span>
#include <vector>

#include <crochet/checkpoint/predictor.hpp>
#include <crochet/executor/cpu.hpp>
#include <crochet/session/raw_session.hpp>

#include "../executor/counting_malloc.hpp"
#include "../io/faulty_files.hpp"
#include "directory.hpp"

namespace crochet {
namespace predictor_allocation_test {

struct Network {
  static constexpr void define(GraphBuilder& g) {
    const Tensor x = g.placeholder<float>("x", {g.dynamic("batch"), 12});
    g.name("guess", dense(relu(dense(x, 20, "hidden")), 3, "output"));
  }
};

TEST(PredictorAllocation, NoneInASteadyCall) {
#if defined(CROCHET_TEST_SANITIZED)
  GTEST_SKIP() << "the sanitizer replaces the operators that this test counts with; it runs in every build without one";
#endif
  const Directory dir;
  test::LocalFilesWithoutSync quick;
  Saver saver{dir.path(), {.say = [](std::string_view) {}, .files = &quick}};
  auto executor = Cpu{.threads = 1, .seed = 1}.compile<Network>();
  executor.initialize();
  RawSession session{executor};
  saver.save(session, 1);

  Predictor<Network, "guess"> predict{Cpu{.threads = 1}, saver};
  auto worker = predict.worker();
  const std::vector<float> x(12 * 64, 0.5F);
  const auto calls = [&](std::size_t batch) {
    const auto part = std::span(x).first(12 * batch);
    return predict(feed<"x">(part))["guess"_n](0, 0) + worker(feed<"x">(part))["guess"_n](0, 0);
  };
  test::mallocs = 0;
  const float first = calls(64);
  EXPECT_GT(test::mallocs, 0) << "the count counts";
  test::mallocs = 0;
  float last = 0;
  for (const std::size_t batch : {std::size_t{64}, std::size_t{5}, std::size_t{64}}) last = calls(batch);
  EXPECT_EQ(test::mallocs, 0);
  EXPECT_EQ(last, first);
}

/// Its weights, 4 MiB, are in panels.
struct Wide {
  static constexpr void define(GraphBuilder& g) {
    const Tensor x = g.placeholder<float>("x", {1, 1024});
    g.name("y", matmul(x, g.variable<float>("w", {1024, 1024}, ones())));
  }
};
std::size_t bytes_in_use() {
  const struct mallinfo2 all = mallinfo2();
  return all.uordblks + all.hblkhd;
}

TEST(PredictorAllocation, RestoredWeightsAreInMemoryOnce) {
#if defined(CROCHET_TEST_SANITIZED)
  GTEST_SKIP() << "the sanitizer has an allocator of its own; it runs in every build without one";
#endif
  constexpr std::size_t weights = std::size_t{4} << 20;
  const Directory dir;
  test::LocalFilesWithoutSync quick;
  Saver saver{dir.path(), {.say = [](std::string_view) {}, .files = &quick}};
  {
    auto executor = Cpu{.threads = 1}.compile<Wide>();
    executor.initialize();
    RawSession session{executor};
    saver.save(session, 1);
  }
  const std::size_t before = bytes_in_use();
  Predictor<Wide, "y"> predict{Cpu{.threads = 1}, saver};
  const std::vector<float> x(1024, 1);
  EXPECT_EQ(predict(feed<"x">(x))["y"_n](0, 7), 1024);
  EXPECT_GT(bytes_in_use() - before, weights);
  EXPECT_LT(bytes_in_use() - before, weights + weights / 2);
}

}  // namespace predictor_allocation_test
}  // namespace crochet
