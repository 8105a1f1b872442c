// SPDX-License-Identifier: Apache-2.0
// A call of a predictor allocates nothing after one with the largest batch.
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

}  // namespace predictor_allocation_test
}  // namespace crochet
