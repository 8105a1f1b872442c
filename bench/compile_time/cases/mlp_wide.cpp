// SPDX-License-Identifier: Apache-2.0
// W2 of the benchmarks.
#include <crochet/executor/cpu.hpp>

#include "training.hpp"

float train(std::span<const float> images, std::span<const std::int32_t> labels) {
  return train_model<bench::WideMlp<crochet::Adam>>(crochet::Cpu{}, images, labels);
}
