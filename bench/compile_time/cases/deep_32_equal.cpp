// SPDX-License-Identifier: Apache-2.0
#include <crochet/executor/cpu.hpp>

#include "deep.hpp"

float train(std::span<const float> images, std::span<const std::int32_t> labels) {
  return train_model<Deep<32, 0>>(crochet::Cpu{}, images, labels);
}
