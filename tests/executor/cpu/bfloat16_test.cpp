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
#include <type_traits>
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

/// 1 + 2^-8 is halfway between two bfloat16 numbers, and is rounded to the even one, 1.
TEST(Bfloat16, ConvolutionsRound) {
  using Model = Convolution<6, 7, 3, 18, 3, 3, valid>;
  const std::vector<float> x(Model::image, 1.0F + 0x1p-8F), weights(Model::weights, 1.0F),
      mask(Model::mask, 1.0F + 0x1p-8F);
  const auto all = results_of<Model, "y", "of x", "of weights">(Bfloat16Cpu{.threads = 1}, x, weights, mask);
  EXPECT_EQ(all[0], std::vector<float>(all[0].size(), 27.0F));
  EXPECT_EQ(all[1][(2 * 7 + 3) * 3], 9 * 18.0F) << "a pixel of nine windows";
  EXPECT_EQ(all[2], std::vector<float>(all[2].size(), 4 * 5.0F));
}

/// The gradient of a filter for an odd number of places, where a NaN is in a pixel that no window reads.
TEST(Bfloat16, ANanPixelThatNoWindowReadsReachesNoGradient) {
  using Model = Convolution<2, 5, 3, 18, 2, 3, valid, 2, 2, 1, 1>;  // places 0 and 2 of a row; then 1 with dilation 2
  using Dilated = Convolution<2, 5, 3, 18, 2, 3, valid, 2, 2, 1, 2>;
  const auto nans = [&]<class M>(std::type_identity<M>, std::size_t pixel) {
    auto x = integers(M::image, 7);
    x[pixel * 3 + 1] = std::numeric_limits<float>::quiet_NaN();
    const auto of = [&](const auto& device) {
      const auto gradient =
          results_of<M, "of weights">(device, x, integers(M::weights, 5), std::vector<float>(M::mask, 1.0F))[0];
      std::string places;
      for (const float g : gradient) places += std::isnan(g) ? '1' : '0';
      return places;
    };
    EXPECT_EQ(of(Bfloat16Cpu{.threads = 1}), of(ExactCpu{.threads = 1})) << "pixel " << pixel;
  };
  for (std::size_t pixel = 0; pixel < 10; ++pixel) {
    nans(std::type_identity<Model>{}, pixel);
    nans(std::type_identity<Dilated>{}, pixel);
  }
}

/// One pixel is NaN: exactly the results whose windows contain it are NaN, as with floats.
TEST(Bfloat16, ANanPixelReachesTheWindowsThatContainIt) {
  using Model = Convolution<6, 7, 3, 18, 3, 3, same>;
  auto x = integers(Model::image, 7);
  x[(2 * 7 + 3) * 3 + 1] = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> weights(Model::weights, 1.0F), mask(Model::mask, 1.0F);
  const auto nans = [&](const auto& device) {
    const auto results = results_of<Model, "y">(device, x, weights, mask)[0];
    std::string places;
    for (const float y : results) places += std::isnan(y) ? '1' : '0';
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
    const Tensor images = g.placeholder<T>("images", {batch, 18, 18, 3}),
                 labels = g.placeholder<std::int32_t>("labels", {batch});
    Tensor x = max_pool(relu(conv2d(images, 16, {3, 3}, "conv")), 2);
    x = reshape(x, {batch, 81, 16});  // more rows than a part of self-attention
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
