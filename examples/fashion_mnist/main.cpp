// SPDX-License-Identifier: Apache-2.0
// Trains a network on Fashion-MNIST, on the CPU or a GPU, under a chain of hooks: the program of `make demo`.
#include <crochet/base/diagnostics.hpp>
#include <crochet/hooks/stop_on_signal.hpp>

#include <cstdio>
#include <exception>
#include <string_view>

#include "mpirun.hpp"
#include "options.hpp"
#include "train.hpp"

template <class Model>
void run(const demo::Options& options) {
#ifdef CROCHET_DEMO_MPIRUN
  if (options.ranks > 1) return demo::train_on_ranks<Model>(options);
#endif
#ifdef CROCHET_DEMO_CUDA
  if (options.device == "cuda") return demo::train_on_gpu<Model>(options);
#endif
  options.looks_into_steps() ? demo::train_debugging<Model>(options) : demo::train<Model>(options);
}

int main(int argc, char** argv) {
  demo::Options options;
  CLI::App app{"Trains a network on Fashion-MNIST under a chain of crochet hooks."};
  options.declare(app);
  CLI11_PARSE(app, argc, argv);
  if (options.quiet) crochet::set_diagnostic_sink([](std::string_view) {});
  try {
    if (options.ranks > 1 && !demo::is_rank()) demo::start_ranks(options.ranks, argv);
    options.model == "mlp" ? run<demo::Mlp>(options) : run<demo::Cnn>(options);
    return crochet::StopOnSignal::exit_code();
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
