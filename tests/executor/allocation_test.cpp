// SPDX-License-Identifier: Apache-2.0
// A step allocates nothing after a run with the largest batch. The test counts calls of malloc, calloc and
// aligned_alloc.
#include "against_oracle.hpp"
#include "counting_malloc.hpp"

namespace crochet {
namespace {

struct Model {
  static constexpr void define(GraphBuilder& g) {
    const Extent batch = g.dynamic("batch");
    const Tensor images = g.placeholder<float>("images", {batch, 8, 8, 1}),
                 labels = g.placeholder<std::int32_t>("labels", {batch});
    const Tensor x = max_pool(relu(conv2d(images, 5, {3, 3}, "conv")), 2);
    const Tensor loss = g.name("loss", sparse_softmax_cross_entropy(dense(flatten(x), 10, "out"), labels));
    g.name("train", minimize(loss, Adam{}));
  }
};

TEST(Allocation, NoneInASteadyStep) {
#if defined(CROCHET_TEST_SANITIZED)
  GTEST_SKIP() << "the sanitizer replaces the operators that this test counts with; it runs in every build without one";
#endif
  for (int threads = 1; threads <= 2; ++threads) {
    auto executor = Cpu{.threads = threads, .seed = 1}.compile<Model>();
    executor.initialize();
    decltype(executor)::Workspace w;
    const std::vector<float> images(64 * 32, 0.5F);
    const std::vector<std::int32_t> labels(32, 3);
    const auto step = [&](std::size_t batch) {
      executor.run<Demand<Names<Name<"loss">>, Names<Name<"train">>>>(
          w, feed<"images">(std::span(images).first(64 * batch)), feed<"labels">(std::span(labels).first(batch)));
      return executor.fetch<Name<"loss">>(w);
    };
    test::mallocs = 0;
    const float first = step(32);
    EXPECT_GT(test::mallocs, 0) << "the count counts";
    test::mallocs = 0;
    float last = first;
    for (int i = 0; i < 10; ++i) last = step(32);
    step(5);
    EXPECT_EQ(test::mallocs, 0) << threads << " threads";
    EXPECT_LT(last, first);
  }
}

}  // namespace
}  // namespace crochet
