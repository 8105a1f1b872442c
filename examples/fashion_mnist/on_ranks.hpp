// SPDX-License-Identifier: Apache-2.0
// The trainings on several ranks, which are processes under MPI.
#pragma once
#include <crochet/executor/cpu.hpp>
#include <crochet/ranks/mpi.hpp>
#include <crochet/ranks/parallel.hpp>

#include <algorithm>
#include <cstdio>
#include <exception>

#include "training.hpp"

namespace demo {

template <class Model>
void train_on_ranks(const Options& options) {
  if (options.looks_into_steps() || options.device != "cpu") {
    throw cr::LogicError("--ranks: without --profile, --dump, --debug-server and --device, to keep this program small");
  }
  int no_arguments = 0;
  char** none = nullptr;
  const cr::MpiInit mpi{no_arguments, none};
  try {
    const cr::Mpi ranks{MPI_COMM_WORLD};
    const cr::Cpu device{.threads = std::max(1, options.threads / ranks.size()), .seed = options.seed};
    train_with<Model>(options, cr::Parallel{device, ranks}, cr::HookChain{}, ranks);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    throw;  // ends the other ranks
  }
}

}  // namespace demo
