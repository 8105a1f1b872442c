// SPDX-License-Identifier: Apache-2.0
// A call of a predictor allocates nothing after one with the largest batch.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <span>
#include <vector>

#include <crochet/checkpoint/predictor.hpp>
#include <crochet/executor/cpu.hpp>
#include <crochet/session/raw_session.hpp>

#include "../io/faulty_files.hpp"
#include "directory.hpp"

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
  allocations = 0;
  const float first = calls(64);
  EXPECT_GT(allocations, 0) << "the count counts";
  allocations = 0;
  float last = 0;
  for (const std::size_t batch : {std::size_t{64}, std::size_t{5}, std::size_t{64}}) last = calls(batch);
  EXPECT_EQ(allocations, 0);
  EXPECT_EQ(last, first);
}

}  // namespace predictor_allocation_test
}  // namespace crochet
