// SPDX-License-Identifier: Apache-2.0
// The input of twin.py, which repeats the first steps in PyTorch: initial weights, batches, losses.
#pragma once
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <crochet/storage/npy.hpp>

#include "model.hpp"

namespace char_lm {

class TwinFiles {
 public:
  explicit TwinFiles(std::filesystem::path folder) : folder_(std::move(folder)) {
    std::filesystem::create_directories(folder_);
  }

  /// Every trainable variable, as `block1_qkv_kernel.npy`.
  template <class Executor>
  void weights(Executor& executor) const {
    [&]<std::size_t... I>(std::index_sequence<I...>) { (weight<I>(executor), ...); }
    (std::make_index_sequence<Executor::fetchable.size()>{});
  }
  void batch(cr::TensorView<std::int32_t, 2> tokens, cr::TensorView<std::int32_t, 2> labels) {
    tokens_.insert(tokens_.end(), tokens.begin(), tokens.end());
    labels_.insert(labels_.end(), labels.begin(), labels.end());
  }
  void step(double loss, double rate, double norm, double seconds) {
    steps_.insert(steps_.end(), {loss, rate, norm, seconds});
  }

  /// batches.npy [2, steps, batch, context] and steps.npy [steps, 4]: loss, rate, norm of the gradients, seconds.
  void close() const {
    const auto steps = static_cast<std::int64_t>(steps_.size() / 4);
    const auto batch = static_cast<std::int64_t>(tokens_.size()) / steps / context;
    std::vector<std::int32_t> both = tokens_;
    both.insert(both.end(), labels_.begin(), labels_.end());
    save<std::int32_t>("batches", both, {2, steps, batch, context});
    save<double>("steps", steps_, {steps, 4});
    save<std::int64_t>("heads", std::vector<std::int64_t>{heads}, {});
  }

 private:
  template <std::size_t I, class Executor>
  void weight(Executor& executor) const {
    constexpr std::string_view view = Executor::fetchable[I];
    using N = cr::Name<cr::FixedString<view.size() + 1>{view}>;
    static constexpr cr::Node node = Executor::graph.nodes[static_cast<std::size_t>(find_node(Executor::graph, view))];
    if constexpr (node.is(cr::op::variable) && node.attributes.ints[1] != 0) {
      std::vector<std::int64_t> shape;
      for (std::size_t i = 0; i < node.shape.rank; ++i) shape.push_back(node.shape[i].factor);
      std::string name(view);
      for (char& c : name) c = c == '/' ? '_' : c;
      const auto values = executor.variable(N{});
      save<float>(name, {values.begin(), values.end()}, shape);
    }
  }
  template <class T>
  void save(const std::string& name, const std::vector<T>& values, const std::vector<std::int64_t>& shape) const {
    cr::io::write_npy<T>(folder_ / (name + ".npy"), values, shape);
  }

  std::filesystem::path folder_;
  std::vector<std::int32_t> tokens_, labels_;
  std::vector<double> steps_;
};

}  // namespace char_lm
