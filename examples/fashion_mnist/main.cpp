// SPDX-License-Identifier: Apache-2.0
// Trains a network on Fashion-MNIST, on the CPU, under a chain of hooks: what `make demo` runs.
#include <crochet/hooks/stop_on_signal.hpp>

#include <cstdio>
#include <exception>

#include "options.hpp"
#include "train.hpp"

int main(int argc, char** argv) {
  demo::Options options;
  CLI::App app{"Trains a network on Fashion-MNIST under a chain of crochet hooks."};
  options.declare(app);
  CLI11_PARSE(app, argc, argv);
  try {
    options.model == "mlp" ? demo::train<demo::Mlp>(options) : demo::train<demo::Cnn>(options);
    return crochet::StopOnSignal::exit_code();
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
