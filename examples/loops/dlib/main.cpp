// SPDX-License-Identifier: Apache-2.0
// A loop of dlib under crochet's hooks: a network learns the sine of a sum, by dlib's dnn_trainer.
//
// The step is train_one_step. State: the number of batches that were drawn, and the trainer with its network, its
// solvers and its learning rate: save_state() stores the bytes that dlib::serialize writes.
#include <dlib/dnn.h>

#include <cmath>
#include <cstdint>
#include <sstream>
#include <string>
#include <vector>

#include "../program.hpp"

using namespace crochet::literals;

struct Training {
  using Row = dlib::matrix<float, 2, 1>;
  using Net =
      dlib::loss_mean_squared<dlib::fc<1, dlib::htan<dlib::fc<32, dlib::htan<dlib::fc<32, dlib::input<Row>>>>>>>;
  static constexpr std::int64_t last_step = 5000;
  static constexpr double min_delta = 1e-3;

  Training() : x(64), y(64), trainer(net, dlib::sgd(0, 0.9F)) {
    trainer.set_learning_rate(0.01);
    trainer.set_iterations_without_progress_threshold(100'000);  // a constant rate
  }

  void advance() {
    dlib::rand random(static_cast<time_t>(++drawn));  // a batch is a function of its number
    for (std::size_t i = 0; i < x.size(); ++i) {
      x[i] = {random.get_random_float() * 4 - 2, random.get_random_float() * 4 - 2};
      y[i] = std::sin(x[i](0) + x[i](1));
    }
    trainer.train_one_step(x, y);
  }
  /// The mean of all steps since the last reading, which waits for the trainer's thread.
  double loss() { return trainer.get_average_loss(); }

  void save_state(auto& out) const {
    std::ostringstream bytes;
    serialize(trainer, bytes);
    out.put("trainer", bytes.str());
  }
  void load_state(auto& in) {
    std::string text;
    if (!in.get("trainer", text)) return;
    std::istringstream bytes(text);
    deserialize(trainer, bytes);
  }

  auto executor() {
    return crochet::StepExecutor{[this](auto& out) {
                                   advance();
                                   if (out.due("loss"_n)) out["loss"_n] = loss();
                                 },
                                 crochet::output<double, "loss">, crochet::variable<"drawn">(drawn)};
  }

  Net net;
  std::int64_t drawn = 0;
  std::vector<Row> x;
  std::vector<float> y;
  dlib::dnn_trainer<Net> trainer;
};

int main(int argc, char** argv) { return loops::program<Training>(argc, argv); }
