// SPDX-License-Identifier: Apache-2.0
// The command line of the example.
#pragma once
#include <CLI/CLI.hpp>

#include <cstdint>
#include <string>

namespace char_lm {

struct Options {
  std::string text = "/usr/share/common-licenses", device = "cpu";
  std::int64_t steps = 2000;
  std::int64_t batch = 16;
  int threads = 2;
  std::uint64_t seed = 1;
  std::int64_t characters = 400;
  double temperature = 0.7;
  std::string prompt = "The licensee ";
  std::string twin;
  bool quiet = false;

  /// Adds the options to a command line.
  void declare(CLI::App& app) {
    app.add_option("--text", text, "what to learn: a file, or a folder of files")->capture_default_str();
#ifdef CROCHET_DEMO_CUDA
    app.add_option("--device", device, "cpu, or cuda: a GPU")
        ->check(CLI::IsMember({"cpu", "cuda"}))
        ->capture_default_str();
#endif
    app.add_option("--steps", steps, "training steps")->check(CLI::PositiveNumber)->capture_default_str();
    app.add_option("--batch", batch, "windows of text in a step")->check(CLI::PositiveNumber)->capture_default_str();
    app.add_option("--threads", threads, "threads that share a step on the CPU")
        ->check(CLI::Range(1, 256))
        ->capture_default_str();
    app.add_option("--seed", seed, "of weights, batches and samples")->capture_default_str();
    app.add_option("--characters", characters, "how many to write in the end")->capture_default_str();
    app.add_option("--temperature", temperature, "0: always the likeliest character; 1: as likely as the model thinks")
        ->check(CLI::NonNegativeNumber)
        ->capture_default_str();
    app.add_option("--prompt", prompt, "what the written text begins with")->capture_default_str();
    app.add_option("--twin", twin, "a folder for weights, batches and losses, which twin.py repeats in PyTorch");
    app.add_flag("--quiet", quiet, "only the last lines");
  }
};

}  // namespace char_lm
