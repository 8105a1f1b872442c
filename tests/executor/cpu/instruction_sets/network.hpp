// SPDX-License-Identifier: Apache-2.0
// A network, and its losses in training, for each file of this program.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <crochet/crochet.hpp>
#include <crochet/executor/cpu.hpp>
#include <crochet/executor/cpu/bfloat16.hpp>
#include <crochet/hook/type_name.hpp>

namespace two_instruction_sets {

/// A convolution, and dense layers whose widths are no multiples of any vector's. Equal networks for all numbers.
template <int Number>
struct Network {
  static constexpr void define(crochet::GraphBuilder& g) {
    const auto images = g.placeholder<float>("images", {g.dynamic("batch"), 9, 9, 3});
    const auto labels = g.placeholder<std::int32_t>("labels", {g.dynamic("batch")});
    const auto features = max_pool(relu(conv2d(images, 20, {3, 3}, "conv")), 2);
    const auto hidden = layer_norm(relu(dense(flatten(features), 70, "hidden")), "norm");
    const auto loss = g.name("loss", sparse_softmax_cross_entropy(dense(hidden, 10, "output"), labels));
    g.name("train", minimize(loss, crochet::Adam{}));
  }
};

// In each file a function of its own, so that only the library's functions may have one name in both.
template <class Device, class Model>
static std::vector<float> losses() {
  constexpr std::size_t batch = 24;
  std::vector<float> images(batch * 9 * 9 * 3);
  for (std::size_t i = 0; i < images.size(); ++i) images[i] = static_cast<float>(i * i % 251) / 251;
  std::vector<std::int32_t> labels(batch);
  for (std::size_t i = 0; i < labels.size(); ++i) labels[i] = static_cast<std::int32_t>(i % 10);
  crochet::MonitoredSession session{Device{.threads = 2, .seed = 1}.template compile<Model>(), crochet::HookChain{}};
  std::vector<float> all;
  for (int step = 0; step < 5; ++step) {
    const auto [loss] = session.run(crochet::fetches<"loss">, crochet::targets<"train">,
                                    crochet::feed<"images">(images), crochet::feed<"labels">(labels));
    all.push_back(loss);
  }
  session.close();
  return all;
}

struct Losses {
  std::vector<float> of_own_model, of_shared_model, rounded;
  std::string device;  ///< its name in keys of state
};

Losses losses_without_options();
Losses losses_with_avx2();

}  // namespace two_instruction_sets
