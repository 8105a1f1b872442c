// SPDX-License-Identifier: Apache-2.0
// Max pooling of NaN, infinities and equal numbers, in channels that fill vectors and in the remaining ones.
#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>
#include <crochet/kernels/cpu/matrix.hpp>
#include <crochet/kernels/cpu/pool.hpp>

namespace crochet {
namespace pool_test {

constexpr std::int64_t channels = 2 * simd::lanes + 3;

/// One window of 2 by 2 pixels, and the results of the kernels.
template <class T>
class Pooled {
 public:
  explicit Pooled(std::array<T, 4> pixels) {
    for (T x : pixels) image_.insert(image_.end(), channels, x);
    run<&op::max_pool>(kernel::Types<T, T>{}, kernel::StoreTo<T>{tops.data(), channels});
    Kernel<&op::max_pool_winners>::run<void, kernel::Types<std::uint8_t, T>>(call(winners.data()));
  }

  std::vector<T> tops = std::vector<T>(channels);
  std::vector<std::uint8_t> winners = std::vector<std::uint8_t>(channels);

 private:
  kernel::Call call(void* out) {
    const Attributes window{.ints = {2, 2, 2, 2, 0, 1, 1}};
    return {.in = {kernel::Operand{.data = image_.data(), .rank = 4, .extents = {1, 2, 2, channels}}},
            .out = {.data = out, .rank = 4, .extents = {1, 1, 1, channels}},
            .attributes = window,
            .dims = {},
            .worker = worker_};
  }
  template <const Op* O, class Types, class Epilogue>
  void run(Types, const Epilogue& epilogue) {
    Kernel<O>::template run<void, Types>(call(nullptr), epilogue);
  }

  std::vector<T> image_;
  kernel::Barrier barrier_{1};
  std::vector<kernel::AlignedBytes> scratch_ = std::vector<kernel::AlignedBytes>(1);
  kernel::Worker worker_{0, 1, barrier_, scratch_};
};

template <class T>
void check() {
  constexpr T nan = std::numeric_limits<T>::quiet_NaN(), inf = std::numeric_limits<T>::infinity();
  for (std::size_t i = 0; i < 4; ++i) {
    std::array<T, 4> pixels{-1, inf, -inf, 3};
    pixels[i] = nan;
    for (T top : Pooled<T>(pixels).tops) EXPECT_TRUE(std::isnan(top)) << i;
  }
  for (T top : Pooled<T>({-inf, -inf, -inf, -inf}).tops) EXPECT_EQ(top, -inf);
  for (T top : Pooled<T>({-inf, 2, inf, 0}).tops) EXPECT_EQ(top, inf);
  for (int winner : Pooled<T>({-inf, 2, inf, 0}).winners) EXPECT_EQ(winner, 2);
  for (int winner : Pooled<T>({1, 4, 4, 4}).winners) EXPECT_EQ(winner, 1) << "the first of the greatest";
  for (int winner : Pooled<T>({0, T(-0.0), 0, 0}).winners) EXPECT_EQ(winner, 0);
}

TEST(MaxPool, ANaNWinsAndTheFirstOfTheGreatestIsRemembered) {
  check<float>();
  check<double>();
}

}  // namespace pool_test
}  // namespace crochet
