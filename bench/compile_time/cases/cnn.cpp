// SPDX-License-Identifier: Apache-2.0
// W3 of the benchmarks.
#include <crochet/executor/cpu.hpp>

#include "training.hpp"

float train(std::span<const float> images, std::span<const std::int32_t> labels) {
  return train_model<bench::Cnn<crochet::Adam>>(crochet::Cpu{}, images, labels);
}
