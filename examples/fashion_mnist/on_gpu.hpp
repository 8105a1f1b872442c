// SPDX-License-Identifier: Apache-2.0
// The trainings on a GPU.
#pragma once
#include <crochet/executor/cuda.hpp>

#include "training.hpp"

namespace demo {

template <class Model>
void train_on_gpu(const Options& options) {
  if (options.looks_into_steps()) {
    throw cr::LogicError("--profile, --dump and --debug-server: only with --device cpu, to keep this program small");
  }
  train_with<Model>(options, cr::Cuda{.seed = options.seed}, cr::HookChain{});
}

}  // namespace demo
