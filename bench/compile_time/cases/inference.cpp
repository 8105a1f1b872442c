// SPDX-License-Identifier: Apache-2.0
// A program that restores a trained model and predicts.
#include <crochet/checkpoint/saver.hpp>
#include <crochet/crochet.hpp>
#include <crochet/executor/cpu.hpp>
#include <crochet/model.hpp>

#include <span>

namespace cr = crochet;

struct Classifier {
  static constexpr void define(cr::GraphBuilder& g) {
    const auto images = g.placeholder<float>("images", {g.dynamic("batch"), 784});
    const auto hidden = relu(dense(images, 128, "hidden"));
    g.name("class", argmax(dense(hidden, 10, "output"), -1));
  }
};

int classify(std::span<const float> image) {
  cr::MonitoredSession session{cr::Cpu{}.compile<Classifier>(), cr::HookChain{},
                               cr::must_restore(cr::Saver{"checkpoints"})};
  const auto [found] = session.run(cr::fetches<"class">, cr::feed<"images">(image));
  const int number = static_cast<int>(found(0));
  session.close();
  return number;
}
