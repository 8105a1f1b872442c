// SPDX-License-Identifier: Apache-2.0
// Bfloat16Cpu. Integers of few bits are bfloat16 numbers, and their products and sums are exact in float. So
// convolutions and products of them, and their gradients, have the bits of ExactCpu, for every shape, part and order of
// summation.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <crochet/crochet.hpp>
#include <crochet/executor/cpu/bfloat16.hpp>

#include "../against_oracle.hpp"
#include "rounded_models.hpp"

namespace crochet {
namespace bfloat16_test {

using namespace crochet::literals;

/// Integers from -7 to 7.
std::vector<float> integers(std::size_t n, std::uint32_t seed) {
  std::vector<float> v(n);
  for (float& x : v) {
    seed = seed * 1664525U + 1013904223U;
    x = static_cast<float>(static_cast<std::int32_t>(seed >> 24U) % 15 - 7);
  }
  return v;
}

template <class Model>
void have_the_bits_of_floats() {
  for (int threads = 1; threads <= 3; ++threads) {
    for (const std::size_t batch : {1U, 2U, 5U, 17U}) {
      SCOPED_TRACE("batch " + std::to_string(batch) + ", threads " + std::to_string(threads));
      const auto results = [&](const auto& device) {
        return results_of<Model, "y", "of x", "of weights">(device, integers(batch * Model::image, 7),
                                                            integers(Model::weights, 5), integers(Model::mask, 6));
      };
      ASSERT_EQ(results(Bfloat16Cpu{.threads = threads}), results(ExactCpu{.threads = 1}));
    }
  }
}

TEST(Bfloat16, Products) {
  have_the_bits_of_floats<Product<64, 32>>();
  have_the_bits_of_floats<Product<37, 50>>();
  have_the_bits_of_floats<Product<100, 3>>();
}

TEST(Bfloat16, Convolutions) {
  have_the_bits_of_floats<Convolution<7, 5, 3, 17, 3, 3, same>>();
  have_the_bits_of_floats<Convolution<9, 31, 1, 33, 3, 3, same>>();
  have_the_bits_of_floats<Convolution<8, 9, 16, 20, 3, 3, same>>();
  have_the_bits_of_floats<Convolution<6, 4, 32, 64, 3, 3, valid>>();
  have_the_bits_of_floats<Convolution<5, 6, 2, 19, 5, 6, valid>>();
}
TEST(Bfloat16, ConvolutionsOfOnePixel) { have_the_bits_of_floats<Convolution<20, 21, 13, 40, 1, 1, same>>(); }
TEST(Bfloat16, ConvolutionsWithStridesAndDilation) {
  have_the_bits_of_floats<Convolution<9, 8, 5, 18, 3, 3, same, 2, 2>>();
  have_the_bits_of_floats<Convolution<11, 13, 4, 9, 2, 3, valid, 1, 3>>();
  have_the_bits_of_floats<Convolution<11, 10, 3, 8, 3, 3, same, 1, 1, 2, 3>>();
}
TEST(Bfloat16, ConvolutionsBeforePooling) {
  have_the_bits_of_floats<Convolution<8, 12, 6, 20, 3, 3, same, 1, 1, 1, 1, 2>>();
}

/// One pixel is NaN: exactly the results whose windows contain it are NaN, as with floats.
TEST(Bfloat16, ANanPixelReachesTheWindowsThatContainIt) {
  using Model = Convolution<6, 7, 3, 18, 3, 3, same>;
  auto x = integers(Model::image, 7);
  x[(2 * 7 + 3) * 3 + 1] = std::numeric_limits<float>::quiet_NaN();
  const auto nans = [&](const auto& device) {
    auto executor = device.template compile<Model>();
    executor.initialize();
    std::ranges::fill(executor.variable("weights"_n), 1.0F);
    MonitoredSession session{std::move(executor), HookChain{}};
    auto [y] = session.run(fetches<"y">, feed<"x">(x));
    std::string places;
    for (std::size_t i = 0; i < y.size(); ++i) places += std::isnan(y.data()[i]) ? '1' : '0';
    session.close();
    return places;
  };
  const std::string expected = nans(ExactCpu{.threads = 1});
  EXPECT_EQ(std::ranges::count(expected, '1'), 9 * 18);
  EXPECT_EQ(nans(Bfloat16Cpu{.threads = 1}), expected);
}

namespace cr = crochet;

struct Classifier {
  static constexpr void define(GraphBuilder& g) {
    const Tensor x = g.placeholder<float>("x", {g.dynamic("batch"), 40});
    g.name("train", minimize(g.name("loss", reduce_mean(square(dense(x, 33, "dense") - 1.0))), SGD{0.5}));
  }
};

// docs/precision.md
TEST(Bfloat16, TrainsASessionAsFloatsDo) {
  const auto x = integers(20 * 40, 3);
  auto chain = HookChain{};
  cr::MonitoredSession session{cr::Bfloat16Cpu{.threads = 2, .seed = 1}.compile<Classifier>(), chain};
  cr::MonitoredSession exact{cr::ExactCpu{.threads = 2, .seed = 1}.compile<Classifier>(), chain};
  for (int i = 0; i < 20; ++i) {
    auto [loss] = session.run(fetches<"loss">, targets<"train">, feed<"x">(x));
    auto [expected] = exact.run(fetches<"loss">, targets<"train">, feed<"x">(x));
    EXPECT_NEAR(loss, expected, 0.02F * expected + 1e-3F) << "step " << i;
  }
  session.close();
  exact.close();
}

/// A network with everything that has products, against the Oracle in float: the errors are those of 8 bits.
template <class T>
struct Network {
  static constexpr void define(GraphBuilder& g) {
    const Extent batch = g.dynamic("batch");
    const Tensor images = g.placeholder<T>("images", {batch, 8, 8, 3}),
                 labels = g.placeholder<std::int32_t>("labels", {batch});
    Tensor x = max_pool(relu(conv2d(images, 16, {3, 3}, "conv")), 2);
    x = reshape(x, {batch, 16, 16});
    x = x + dense(self_attention(dense(layer_norm(x, "norm"), 48, "qkv"), 2), 16, "mix");
    const Tensor logits = dense(reduce_mean(x, {1}), 5, "out");
    g.name("logits", logits);
    g.name("train", minimize(g.name("loss", sparse_softmax_cross_entropy(logits, labels)), SGD{0.05}));
  }
};

TEST(Bfloat16, NetworksAreCloseToFloats) {
  AgainstOracle<Network<float>, kernel::Bfloat16Tiles> both(2, 3e-2);
  for (std::int64_t batch : {5, 16}) {
    both.run(Names<Name<"loss">, Name<"logits">>{}, Names<Name<"train">>{}, {batch});
  }
}
TEST(Bfloat16, DoublesAreNotRounded) {
  AgainstOracle<Network<double>, kernel::Bfloat16Tiles> both(2, 1e-12);
  both.run(Names<Name<"loss">, Name<"logits">>{}, Names<Name<"train">>{}, {5});
}

}  // namespace bfloat16_test
}  // namespace crochet
