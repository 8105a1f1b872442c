// SPDX-License-Identifier: Apache-2.0
// Int8Cpu. Integers up to 127 are rounded to themselves where each image, row and column has a 127, and sums of their
// products are exact in float. So convolutions and products of them have the bits of ExactCpu.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <crochet/checkpoint/predictor.hpp>
#include <crochet/executor/cpu/int8.hpp>
#include <crochet/hooks/checkpoint_saver.hpp>

#include "../../checkpoint/directory.hpp"
#include "../../io/current_folder.hpp"
#include "../against_oracle.hpp"
#include "rounded_models.hpp"

namespace crochet {
namespace int8_test {

/// Integers from -100 to 100, and one of 127 in each of `count` parts: `apart` is the distance of a part's elements.
std::vector<float> integers(std::size_t n, std::size_t count, std::size_t apart, std::uint32_t seed) {
  std::vector<float> v(n);
  for (float& x : v) {
    seed = seed * 1664525U + 1013904223U;
    x = static_cast<float>(static_cast<std::int32_t>(seed >> 16U) % 101) * (seed % 2 == 0 ? 1.0F : -1.0F);
  }
  const std::size_t length = n / count;  // of a part
  for (std::size_t p = 0; p < count; ++p) {
    const std::size_t first = apart == 1 ? p * length : p;
    v[first + p % length * apart] = p % 3 == 0 ? -127.0F : 127.0F;
  }
  return v;
}

/// K: the columns of the weights. PartsOfImage: 1, or the number of rows or pixels of an image, which have a scale
/// each.
template <class Model, std::size_t K, std::size_t PartsOfImage = 1>
void has_the_bits_of_floats() {
  for (int threads = 1; threads <= 3; ++threads) {
    for (const std::size_t batch : {1U, 2U, 5U, 17U}) {
      SCOPED_TRACE("batch " + std::to_string(batch) + ", threads " + std::to_string(threads));
      const auto results = [&](const auto& device) {
        return results_of<Model, "y">(device, integers(batch * Model::image, batch * PartsOfImage, 1, 7),
                                      integers(Model::weights, K, K, 5), std::vector<float>(Model::mask, 1.0F));
      };
      ASSERT_EQ(results(Int8Cpu{.threads = threads}), results(ExactCpu{.threads = 1}));
    }
  }
}

TEST(Int8, Products) {
  has_the_bits_of_floats<Product<64, 32>, 32>();
  has_the_bits_of_floats<Product<37, 50>, 50>();
  has_the_bits_of_floats<Product<100, 3>, 3>();
}

TEST(Int8, Convolutions) {
  has_the_bits_of_floats<Convolution<7, 5, 3, 17, 3, 3, same>, 17>();
  has_the_bits_of_floats<Convolution<9, 31, 1, 33, 3, 3, same>, 33>();
  has_the_bits_of_floats<Convolution<8, 9, 16, 20, 3, 3, same>, 20>();
  has_the_bits_of_floats<Convolution<6, 4, 32, 64, 3, 3, valid>, 64>();
  has_the_bits_of_floats<Convolution<5, 6, 2, 19, 5, 6, valid>, 19>();
}
TEST(Int8, ConvolutionsOfOnePixel) { has_the_bits_of_floats<Convolution<20, 21, 13, 40, 1, 1, same>, 40, 20 * 21>(); }
TEST(Int8, ConvolutionsWithStridesAndDilation) {
  has_the_bits_of_floats<Convolution<9, 8, 5, 18, 3, 3, same, 2, 2>, 18>();
  has_the_bits_of_floats<Convolution<11, 13, 4, 9, 2, 3, valid, 1, 3>, 9>();
  has_the_bits_of_floats<Convolution<11, 10, 3, 8, 3, 3, same, 1, 1, 2, 3>, 8>();
}

/// With fewer than four numbers for a result nothing is rounded.
TEST(Int8, ConvolutionsOfThreeNumbersAreThoseOfFloats) {
  using Model = Convolution<5, 6, 1, 20, 1, 3, same>;
  std::vector<float> x(2 * Model::image), weights(Model::weights);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = std::sin(static_cast<float>(i));
  for (std::size_t i = 0; i < weights.size(); ++i) weights[i] = std::cos(static_cast<float>(i));
  const auto results = [&](const auto& device) {
    return results_of<Model, "y">(device, x, weights, std::vector<float>(Model::mask, 1.0F));
  };
  EXPECT_EQ(results(Int8Cpu{.threads = 1}), results(ExactCpu{.threads = 1}));
}

/// A window of one pixel is a product with a scale for each pixel: its magnitude is 127, so 0.5 is rounded to 0 or 1.
TEST(Int8, ConvolutionsOfOnePixelRoundEachPixel) {
  using Model = Convolution<4, 5, 5, 20, 1, 1, same>;
  std::vector<float> x(Model::image, 0.3F);
  for (std::size_t pixel = 0; pixel < 20; ++pixel) x[pixel * 5] = 127.0F;
  std::fill_n(x.begin() + 35, 5, 0.003F);
  x[35] = 1.27F;  // the eighth pixel has a scale of its own
  const auto y = results_of<Model, "y">(Int8Cpu{.threads = 1}, x, std::vector<float>(Model::weights, 127.0F),
                                        std::vector<float>(Model::mask, 1.0F))[0];
  for (std::size_t i = 0; i < y.size(); ++i) {
    ASSERT_NEAR(y[i], (i / 20 == 7 ? 1.27F : 127.0F) * 127.0F, 0.01F)
        << "result " << i << ": four of five numbers are 0";
  }
}

/// Gradients of images are convolutions too. Those of filters are of floats.
TEST(Int8, GradientsAreCloseToFloats) {
  using Model = Convolution<9, 8, 5, 18, 3, 3, same, 2, 2>;
  auto weights = integers(Model::weights, 18, 18, 5);
  for (float& w : weights) w = std::sin(w);
  const auto results = [&](const auto& device) {
    return results_of<Model, "of x", "of weights">(device, integers(3 * Model::image, 3, 1, 7), weights,
                                                   integers(Model::mask, 1, 1, 6));
  };
  const auto rounded = results(Int8Cpu{.threads = 2}), exact = results(ExactCpu{.threads = 2});
  EXPECT_EQ(rounded[1], exact[1]);
  float largest = 0;
  for (const float x : exact[0]) largest = std::max(largest, std::abs(x));
  bool rounds = false;
  for (std::size_t i = 0; i < exact[0].size(); ++i) {
    ASSERT_NEAR(rounded[0][i], exact[0][i], 0.02F * largest) << i;
    rounds = rounds || rounded[0][i] != exact[0][i];
  }
  EXPECT_TRUE(rounds);
}

/// One pixel is NaN: the results of its image are NaN, and those of no other.
TEST(Int8, ANanPixelReachesItsImage) {
  using Model = Convolution<6, 7, 3, 18, 3, 3, same>;
  auto x = integers(3 * Model::image, 3, 1, 7);
  x[Model::image + 40] = std::numeric_limits<float>::quiet_NaN();
  const auto y = results_of<Model, "y">(Int8Cpu{.threads = 1}, x, integers(Model::weights, 18, 18, 5),
                                        std::vector<float>(Model::mask, 1.0F))[0];
  for (std::size_t i = 0; i < y.size(); ++i) ASSERT_EQ(std::isnan(y[i]), i / (6 * 7 * 18) == 1) << i;
}

namespace cr = crochet;

struct Classifier {
  static constexpr void define(GraphBuilder& g) {
    const Tensor x = g.placeholder<float>("x", {g.dynamic("batch"), 40});
    const Tensor logits = g.name("logits", dense(relu(dense(x, 33, "hidden")), 3, "output"));
    g.name("train", minimize(reduce_mean(square(logits - 1.0)), SGD{0.5}));
  }
};

// docs/precision.md
TEST(Int8, PredictsWithACheckpointOfATrainingInFloat) {
  const Directory directory;
  std::filesystem::create_directories(directory.path());
  const test::CurrentFolder folder(directory.path());
  const auto x = integers(20 * 40, 20, 1, 3);
  MonitoredSession session{Cpu{.threads = 1, .seed = 1}.compile<Classifier>(),
                           HookChain{CheckpointSaver{Saver{"run/mlp"}, {.save_steps = 1}}}};
  session.run(targets<"train">, feed<"x">(std::vector<float>(x.size(), 0.01F)));
  const auto [logits] = session.run(fetches<"logits">, feed<"x">(x));
  const std::vector<float> expected(logits.data(), logits.data() + logits.size());
  session.close();

  cr::BasicPredictor<cr::Int8Cpu, Classifier, "logits"> predict{cr::Int8Cpu{.threads = 1}, "run/mlp"};
  const auto [guess] = predict(feed<"x">(x));
  float largest = 0;
  for (const float y : expected) largest = std::max(largest, std::abs(y));
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(guess.data()[i], expected[i], 0.02F * largest) << i;

  auto worker = predict.worker();
  const auto [of_worker] = worker(feed<"x">(x));
  EXPECT_TRUE(std::equal(of_worker.data(), of_worker.data() + of_worker.size(), guess.data())) << "the same bits";
}

/// A network with everything that has products, against the Oracle in float: the errors are those of 8 bits.
template <class T>
struct Network {
  static constexpr void define(GraphBuilder& g) {
    const Extent batch = g.dynamic("batch");
    const Tensor images = g.placeholder<T>("images", {batch, 18, 18, 3});
    Tensor x = max_pool(relu(conv2d(images, 16, {3, 3}, "conv")), 2);
    x = reshape(x, {batch, 81, 16});  // more rows than a part of self-attention
    x = x + dense(self_attention(dense(layer_norm(x, "norm"), 48, "qkv"), 2), 16, "mix");
    g.name("logits", dense(reduce_mean(x, {1}), 5, "out"));
  }
};

TEST(Int8, NetworksAreCloseToFloats) {
  AgainstOracle<Network<float>, kernel::Int8Tiles> both(2, 3e-2);
  for (std::int64_t batch : {5, 16}) both.run(Names<Name<"logits">>{}, Names<>{}, {batch});
}
TEST(Int8, DoublesAreNotRounded) {
  AgainstOracle<Network<double>, kernel::Int8Tiles> both(2, 1e-12);
  both.run(Names<Name<"logits">>{}, Names<>{}, {5});
}

}  // namespace int8_test
}  // namespace crochet
