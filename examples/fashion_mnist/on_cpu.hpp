// SPDX-License-Identifier: Apache-2.0
// The trainings on the CPU.
#pragma once
#include <crochet/executor/cpu.hpp>

#include "debugging.hpp"
#include "training.hpp"

namespace demo {

inline cr::Cpu cpu(const Options& options) { return {.threads = options.threads, .seed = options.seed}; }

template <class Model>
void train(const Options& options) {
  train_with<Model>(options, cpu(options), cr::HookChain{});
}
template <class Model>
void train_debugging(const Options& options) {
  train_with_debugging<Model>(options, cpu(options));
}

}  // namespace demo
