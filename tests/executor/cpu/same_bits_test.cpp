// SPDX-License-Identifier: Apache-2.0
// Networks trained for some steps have the same bits for each number of threads that run, at a fixed limit. Sums are so
// long that they are divided.
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <crochet/executor/cpu.hpp>

#include "../../graph/random_values.hpp"

namespace crochet {
namespace same_bits_test {

template <class T>
struct Mlp {
  using Element = T;
  static constexpr std::int64_t inputs = 61;
  static constexpr Tensor logits(Tensor x, Extent) {
    return dense(dropout(gelu(dense(x, 70, "hidden")), 0.2), 5, "out");
  }
};

/// A convolution by each algorithm, batch, group and layer normalization.
struct Cnn {
  using Element = float;
  static constexpr std::int64_t inputs = 12 * 12;
  static constexpr Tensor logits(Tensor x, Extent batch) {
    x = conv2d(reshape(x, {batch, 12, 12, 1}), 16, {3, 3}, "conv1");
    x = relu(batch_norm(x, "bn", true));
    x = max_pool(relu(group_norm(conv2d(x, 16, {3, 3}, "conv2"), 4, "gn")), 2);
    return dense(layer_norm(flatten(x), "ln"), 5, "out");
  }
};

struct Transformer {
  using Element = float;
  static constexpr std::int64_t inputs = 10 * 24;
  static constexpr Tensor logits(Tensor x, Extent batch) {
    x = reshape(x, {batch, 10, 24});
    x = x + dense(self_attention(dense(layer_norm(x, "ln1"), 72, "qkv"), 4), 24, "mix");
    x = x + dense(gelu(dense(layer_norm(x, "ln2"), 48, "wide")), 24, "narrow");
    return dense(reduce_mean(x, {1}), 5, "out");
  }
};

template <class Network>
struct Model {
  static constexpr void define(GraphBuilder& g) {
    using T = typename Network::Element;
    const Extent batch = g.dynamic("batch");
    const Tensor x = g.placeholder<T>("x", {batch, Network::inputs}),
                 labels = g.placeholder<std::int32_t>("labels", {batch});
    const Tensor loss = g.name("loss", sparse_softmax_cross_entropy(Network::logits(x, batch), labels));
    g.name("train", minimize(loss, Adam{.learning_rate = 1e-2}, {.clip = ClipByGlobalNorm{1.0}}));
  }
};

/// The bytes of all variables after some steps.
template <class Network>
std::string trained(cpu::Settings settings) {
  using T = typename Network::Element;
  cpu::Executor<kernel::Tiles, Model<Network>> executor(settings);
  executor.initialize();
  typename decltype(executor)::Workspace w;
  for (const std::int64_t batch : {150, 1, 67}) {
    const std::vector<double> random = Numbers(3).many(static_cast<std::size_t>(batch * Network::inputs));
    const std::vector<T> x(random.begin(), random.end());
    std::vector<std::int32_t> labels(static_cast<std::size_t>(batch));
    for (std::size_t i = 0; i < labels.size(); ++i) labels[i] = static_cast<std::int32_t>(i % 5);
    executor.template run<Demand<Names<Name<"loss">>, Names<Name<"train">>>>(w, feed<"x">(x), feed<"labels">(labels));
  }
  std::string bytes;
  executor.for_each_variable([&](std::string_view, auto elements, auto) {
    bytes.append(reinterpret_cast<const char*>(elements.data()), elements.size_bytes());
  });
  return bytes;
}

template <class Network>
class SameBits : public ::testing::Test {};
using Networks = ::testing::Types<Mlp<float>, Mlp<double>, Cnn, Transformer>;
TYPED_TEST_SUITE(SameBits, Networks);

TYPED_TEST(SameBits, ForEachNumberOfThreadsThatRun) {
  for (const int limit : {2, 5}) {
    const std::string all = trained<TypeParam>({.threads = limit, .seed = 1, .running = limit});
    for (int running = 1; running < limit; ++running) {
      EXPECT_TRUE(trained<TypeParam>({.threads = limit, .seed = 1, .running = running}) == all)
          << running << " of " << limit;
    }
  }
}

}  // namespace same_bits_test
}  // namespace crochet
