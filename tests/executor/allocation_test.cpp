// SPDX-License-Identifier: Apache-2.0
// A step allocates nothing after a run with the largest batch. The test counts calls of malloc, calloc and
// aligned_alloc.
#include <cstdlib>

#include "against_oracle.hpp"

// Sanitizers have their own allocators, which must not be replaced.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define CROCHET_TEST_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define CROCHET_TEST_SANITIZED 1
#endif
#endif

namespace {
std::atomic<int> allocations = 0;
}

#if !defined(CROCHET_TEST_SANITIZED)
// These functions replace glibc's: calls from the C library and from operator new are counted here.
extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_memalign(std::size_t, std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* malloc(std::size_t n) noexcept {
  ++allocations;
  return __libc_malloc(n);
}
void* calloc(std::size_t n, std::size_t size) noexcept {
  ++allocations;
  return __libc_calloc(n, size);
}
void* aligned_alloc(std::size_t alignment, std::size_t n) noexcept {
  ++allocations;
  return __libc_memalign(alignment, n);
}
}
#endif

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
    allocations = 0;
    const float first = step(32);
    EXPECT_GT(allocations, 0) << "the count counts";
    allocations = 0;
    float last = first;
    for (int i = 0; i < 10; ++i) last = step(32);
    step(5);
    EXPECT_EQ(allocations, 0) << threads << " threads";
    EXPECT_LT(last, first);
  }
}

}  // namespace
}  // namespace crochet
