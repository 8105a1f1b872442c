// SPDX-License-Identifier: Apache-2.0
// W4 of the benchmarks.
#include <crochet/executor/cpu.hpp>

#include "training.hpp"

float train(std::span<const float> inputs, std::span<const float> targets) {
  return train_model<bench::Encoder<crochet::Adam>>(crochet::Cpu{}, inputs, targets);
}
