// SPDX-License-Identifier: Apache-2.0
// Pooling and its gradients on the CPU executor against the Oracle: windows that overlap, skip pixels or cross the
// border, and channels that do not fill vectors.
#include "windows.hpp"

namespace crochet {
namespace pool_test {

/// Max and average pooling of one shape in one model, on H x W pixels of C channels.
template <class T, std::int64_t H, std::int64_t W, std::int64_t C, std::int32_t Kh, std::int32_t Kw, Padding P,
          std::int32_t Sh, std::int32_t Sw>
struct Pools {
  static constexpr void define(GraphBuilder& g) {
    const Tensor x = image_of<T, H, W, C>(g);
    learn(g, x, max_pool(x, {Kh, Kw}, {Sh, Sw}, P) + average_pool(x * x, {Kh, Kw}, {Sh, Sw}, P));
  }
};

TEST(Pool, SideBySide) { test_windows<Pools<float, 8, 12, 32, 2, 2, valid, 2, 2>, float>(); }
TEST(Pool, OneChannel) { test_windows<Pools<double, 6, 6, 1, 2, 3, same, 2, 3>, double>(); }
TEST(Pool, Overlapping) { test_windows<Pools<float, 9, 7, 19, 3, 3, same, 2, 1>, float>(); }
TEST(Pool, LeavesPixelsOut) { test_windows<Pools<double, 7, 11, 17, 2, 1, valid, 3, 2>, double>(); }
TEST(Pool, LargeWindow) { test_windows<Pools<float, 19, 18, 5, 17, 17, same, 4, 5>, float>(); }

/// The layers that pool_first rearranges; the Oracle computes them in their original order.
template <class T, std::int32_t K, std::int32_t S>
struct Layers {
  static constexpr void define(GraphBuilder& g) {
    const Tensor x = image_of<T, 8, 12, 3>(g);
    const Tensor first = relu(conv2d(x, 17, {3, 3}, "first")), pooled = max_pool(first, {K, K}, {S, S}, same);
    const Tensor second = conv2d(pooled, 5, {2, 2}, "second", {.padding = valid});
    learn(g, x, max_pool(relu(second), 2) + reduce_mean(first, {1, 2, 3}, keep_dims));
  }
};
TEST(Pool, AfterBiasAndRelu) { test_windows<Layers<float, 2, 2>, float>(); }
TEST(Pool, OverlappingAfterBiasAndRelu) { test_windows<Layers<double, 3, 1>, double>(); }

template <class T>
struct Global {
  static constexpr void define(GraphBuilder& g) {
    const Tensor x = image_of<T, 5, 7, 19>(g);
    learn(g, x, global_max_pool(x) + global_average_pool(x * x));
  }
};
TEST(Pool, Global) { test_windows<Global<float>, float>(); }

struct Equal {
  static constexpr void define(GraphBuilder& g) {
    g.name("square", average_pool(g.placeholder<float>("image", {1, 112, 112, 17}), 112));
    g.name("wide", average_pool(g.placeholder<float>("row", {1, 1, 20'000, 1}), {1, 20'000}, {1, 1}));
  }
};
// Sums of a whole window in one accumulator are wrong by 1e-4: all additions round the same way.
TEST(Pool, TheMeanOfEqualNumbersInALargeWindow) {
  using E = ExecutorUnderTest<Equal>;
  E executor = make_executor_under_test<Equal>(1, 1);
  for (const float number : {1.1F, 0.7F, -1.3F}) {
    typename E::Workspace w;
    const std::vector<float> x(112 * 112 * 17, number);
    executor.template run<Demand<Names<Name<"square">, Name<"wide">>, Names<>>>(
        w, feed<"image">(TensorView<float, 4>{x.data(), {1, 112, 112, 17}}),
        feed<"row">(TensorView<float, 4>{x.data(), {1, 1, 20'000, 1}}));
    for (const double y : elements(executor.template fetch<Name<"square">>(w))) EXPECT_NEAR(y / number, 1, 1e-5);
    for (const double y : elements(executor.template fetch<Name<"wide">>(w))) EXPECT_NEAR(y / number, 1, 1e-5);
  }
}

}  // namespace pool_test
}  // namespace crochet
