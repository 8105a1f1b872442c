// SPDX-License-Identifier: Apache-2.0
// A loop of libtorch under crochet's hooks: a network learns the sine of a sum, with Adam.
//
// State: the weights, each a variable; the number of batches that were drawn; and the optimizer's moments, which are no
// arrays of fixed names: save_state() stores the bytes that torch::save writes.
#include <torch/torch.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include "../program.hpp"

using namespace crochet::literals;

struct Training {
  static constexpr std::int64_t last_step = 5000;
  static constexpr double min_delta = 2e-4;

  Training() {
    torch::set_num_threads(1);
    torch::manual_seed(1);
    net = torch::nn::Sequential(torch::nn::Linear(2, 64), torch::nn::Tanh(), torch::nn::Linear(64, 64),
                                torch::nn::Tanh(), torch::nn::Linear(64, 1));
    optimizer = std::make_unique<torch::optim::Adam>(net->parameters(), torch::optim::AdamOptions(1e-3));
    for (const torch::Tensor& weight : net->parameters())
      weights.emplace_back(weight.data_ptr<float>(), static_cast<std::size_t>(weight.numel()));
  }

  void advance() {
    torch::manual_seed(static_cast<std::uint64_t>(++drawn));  // a batch is a function of its number
    const torch::Tensor x = torch::rand({64, 2}) * 4 - 2;
    const torch::Tensor y = torch::sin(x.sum(1, true));
    optimizer->zero_grad();
    const torch::Tensor error = torch::mse_loss(net->forward(x), y);
    error.backward();
    optimizer->step();
    last = error.item<float>();
    average = average < 0 ? last : 0.98 * average + 0.02 * last;
  }
  double loss() const { return average; }

  void save_state(auto& out) const {
    std::ostringstream bytes;
    torch::save(*optimizer, bytes);
    out.put("optimizer", bytes.str());
  }
  void load_state(auto& in) {
    std::string text;
    if (!in.get("optimizer", text)) return;
    std::istringstream bytes(text);
    torch::load(*optimizer, bytes);
  }

  auto executor() {
    return crochet::StepExecutor{[this](auto& out) {
                                   advance();
                                   if (out.due("loss"_n)) out["loss"_n] = loss();
                                 },
                                 crochet::output<double, "loss">,
                                 crochet::variable<"drawn">(drawn),
                                 crochet::variable<"average">(average),
                                 crochet::variable<"0/weight">(weights[0], {64, 2}),
                                 crochet::variable<"0/bias">(weights[1]),
                                 crochet::variable<"2/weight">(weights[2], {64, 64}),
                                 crochet::variable<"2/bias">(weights[3]),
                                 crochet::variable<"4/weight">(weights[4], {1, 64}),
                                 crochet::variable<"4/bias">(weights[5])};
  }

  torch::nn::Sequential net;
  std::unique_ptr<torch::optim::Adam> optimizer;
  std::vector<std::span<float>> weights;  // in place
  std::int64_t drawn = 0;
  double average = -1, last = 0;
};

int main(int argc, char** argv) { return loops::program<Training>(argc, argv); }
