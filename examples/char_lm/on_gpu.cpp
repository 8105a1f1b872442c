// SPDX-License-Identifier: Apache-2.0
#include "on_gpu.hpp"

#include <crochet/executor/cuda.hpp>

#include "learning.hpp"

void char_lm::learn_and_write_on_gpu(const Options& options) {
  learn_and_write(options, cr::Cuda{.seed = options.seed});
}
