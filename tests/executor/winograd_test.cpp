// SPDX-License-Identifier: Apache-2.0
// Convolutions by Winograd's algorithm (kernels/cpu/conv/winograd.hpp) and their gradients on the CPU executor against
// the Oracle, in tiles of both sizes.
#include "windows.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <crochet/crochet.hpp>
#include <crochet/executor/cpu.hpp>

namespace crochet {
namespace winograd_test {

TEST(Winograd, InSmallTiles) { test_windows<Convolution<float, 8, 9, 16, 20, 3, 3, same>, float>(); }
TEST(Winograd, InLargeTiles) { test_windows<Convolution<float, 23, 25, 16, 16, 3, 3, valid>, float>(); }

/// The gradient of the filter is that of a convolution and its pooling.
template <std::int64_t H, std::int64_t W>
struct Pooled {
  static constexpr void define(GraphBuilder& g) {
    const Tensor x = image_of<float, H, W, 16>(g);
    const Tensor filter = g.variable<float>("filter", {3, 3, 16, 20}, uniform(-1, 1));
    learn(g, x, max_pool(relu(conv2d(x, filter)), 2));
  }
};
/// The gradient of a filter, from an image and a fed upstream gradient only.
struct OfAFilter {
  static constexpr void define(GraphBuilder& g) {
    const Tensor x = g.placeholder<float>("x", {g.dynamic("batch"), 9, 10, 16});
    const Tensor up = g.placeholder<float>("up", {g.dynamic("batch"), 9, 10, 16});
    const Tensor filter = g.variable<float>("filter", {3, 3, 16, 16}, zeros());
    g.name("gradient", gradient(reduce_sum(conv2d(x, filter) * up), filter));
  }
};
template <class Device>
std::vector<float> gradient_by(const Device& device, std::int64_t batch) {
  std::vector<float> x(static_cast<std::size_t>(batch * 9 * 10 * 16)), up(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    x[i] = std::sin(0.7F * static_cast<float>(i));
    up[i] = std::cos(1.3F * static_cast<float>(i));
  }
  MonitoredSession session{device.template compile<OfAFilter>(), HookChain{}};
  const auto view = [&](const std::vector<float>& of) { return TensorView<float, 4>{of.data(), {batch, 9, 10, 16}}; };
  const auto values = session.run(fetches<"gradient">, feed<"x">(view(x)), feed<"up">(view(up)));
  const auto result = values[Name<"gradient">{}];
  std::vector<float> copy(result.begin(), result.end());
  session.close();
  return copy;
}
TEST(Winograd, GradientsOfFiltersAreInTilesIfThereAreTwoImagesForEachThreadOfTheLimit) {
  EXPECT_NE(gradient_by(Cpu{.threads = 1}, 1), gradient_by(ExactCpu{.threads = 1}, 1));
  EXPECT_NE(gradient_by(Cpu{.threads = 2}, 4), gradient_by(ExactCpu{.threads = 2}, 4));
  EXPECT_EQ(gradient_by(Cpu{.threads = 2}, 3), gradient_by(ExactCpu{.threads = 2}, 3));
}

TEST(Winograd, BeforeAPoolingInSmallTiles) { test_windows<Pooled<8, 10>, float>(); }
TEST(Winograd, BeforeAPoolingInLargeTiles) { test_windows<Pooled<22, 24>, float>(); }

}  // namespace winograd_test
}  // namespace crochet
