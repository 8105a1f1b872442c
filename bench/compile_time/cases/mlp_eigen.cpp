// SPDX-License-Identifier: Apache-2.0
#include <crochet/executor/cpu/eigen.hpp>

#include "training.hpp"

float train(std::span<const float> images, std::span<const std::int32_t> labels) {
  return train_model<bench::Mlp<crochet::Adam>>(crochet::EigenCpu{}, images, labels);
}
