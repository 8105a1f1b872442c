// SPDX-License-Identifier: Apache-2.0
// Agreement of training: several steps of an optimizer on a small model. The final parameters are the "value".
#pragma once
#include <algorithm>
#include <array>
#include <vector>

#include "agree.hpp"

namespace agreement {

/// The loss of a layer. F creates its training step.
template <class F>
struct Trained {
  using Kernel = normal<7, 5>;
  using Bias = normal<5>;
  using X = fixed<11, 7>;
  static constexpr void define(crochet::GraphBuilder& g) {
    const auto w = g.variable<float>("in0", Kernel::shape, crochet::zeros());
    const auto b = g.variable<float>("in1", Bias::shape, crochet::zeros());
    const auto x = g.variable<float>("in2", X::shape, crochet::zeros(), false);
    g.name("train", F{}(reduce_mean(square(tanh(matmul(x, w) + b) - 0.3)) * 10));
  }
};

/// Trains, and writes each case into its own folder: inN, and value, which holds the elements of the kernel, then of
/// the bias.
class Trainer {
 public:
  static constexpr int steps = 25;

  explicit Trainer(std::filesystem::path folder) : folder_(std::move(folder)) {}

  template <class F>
  void operator()(const std::string& name, F) {
    using Model = Trained<F>;
    auto executor = crochet::Cpu{.threads = 2, .seed = 1}.compile<Model>();
    executor.initialize();
    std::filesystem::create_directories(folder_ / name);
    draw<typename Model::Kernel>(executor.variable(crochet::Name<"in0">{}), folder_ / name / "in0.npy");
    draw<typename Model::Bias>(executor.variable(crochet::Name<"in1">{}), folder_ / name / "in1.npy");
    draw<typename Model::X>(executor.variable(crochet::Name<"in2">{}), folder_ / name / "in2.npy");
    typename decltype(executor)::Workspace workspace;
    for (int step = 0; step < steps; ++step) {
      executor.template run<crochet::Demand<crochet::Names<>, crochet::Names<crochet::Name<"train">>>>(workspace);
    }
    std::vector<float> value;
    std::ranges::copy(executor.variable(crochet::Name<"in0">{}), std::back_inserter(value));
    std::ranges::copy(executor.variable(crochet::Name<"in1">{}), std::back_inserter(value));
    const std::array<std::int64_t, 1> extent{static_cast<std::int64_t>(value.size())};
    crochet::io::write_npy<float>(folder_ / name / "value.npy", value, extent);
  }

 private:
  template <class In, class Elements>
  void draw(Elements elements, const std::filesystem::path& file) {
    for (auto& x : elements) x = In::draw(random_);
    std::vector<std::int64_t> shape;
    for (std::size_t d = 0; d < In::shape.rank; ++d) shape.push_back(In::shape[d].factor);
    crochet::io::write_npy<float>(file, elements, shape);
  }

  std::filesystem::path folder_;
  std::mt19937 random_{7};
};

}  // namespace agreement
