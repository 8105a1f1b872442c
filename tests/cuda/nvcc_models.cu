// SPDX-License-Identifier: Apache-2.0
// Whole models, compiled by nvcc for a GPU and not run (nvcc_models.cmake): every kind of kernel in registers.
#include <crochet/crochet.hpp>
#include <crochet/executor/cuda/nvcc.hpp>

#include <cstdint>
#include <vector>

namespace cr = crochet;
using namespace cr::literals;  // NOLINT(google-build-using-namespace)

namespace {

struct Mlp {
  static constexpr std::size_t inputs = 784;
  static constexpr void define(cr::GraphBuilder& g) {
    const auto batch = g.dynamic("batch");
    const auto x = g.placeholder<float>("x", {batch, 784});
    const auto labels = g.placeholder<std::int32_t>("labels", {batch});
    const auto logits = dense(relu(dense(x, 128, "hidden")), 10, "out");
    g.name("train", minimize(g.name("loss", sparse_softmax_cross_entropy(logits, labels)), cr::Adam{}));
  }
};
struct Cnn {
  static constexpr std::size_t inputs = 784;
  static constexpr void define(cr::GraphBuilder& g) {
    const auto batch = g.dynamic("batch");
    const auto images = g.placeholder<float>("x", {batch, 784});
    const auto labels = g.placeholder<std::int32_t>("labels", {batch});
    auto x = reshape(images, {batch, 28, 28, 1});
    x = max_pool(relu(batch_norm(conv2d(x, 16, {3, 3}, "conv"), "norm", true)), 2);
    const auto logits = dense(dropout(flatten(x), 0.5), 10, "out");
    g.name("train", minimize(g.name("loss", sparse_softmax_cross_entropy(logits, labels)), cr::Momentum{}));
  }
};

template <class Model>
void train() {
  const std::vector<float> x(32 * Model::inputs);
  const std::vector<std::int32_t> labels(32);
  cr::MonitoredSession session{cr::NvccCuda{}.compile<Model>(), cr::HookChain{}};
  session.run("train"_n, cr::feed<"x">(x), cr::feed<"labels">(labels));
  session.close();
}

}  // namespace

int main() {
  train<Mlp>();
  train<Cnn>();
}
