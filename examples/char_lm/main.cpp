// SPDX-License-Identifier: Apache-2.0
// Trains a small GPT on the characters of a text, on the CPU or a GPU, under a chain of hooks, and generates text.
#include <crochet/crochet.hpp>
#include <crochet/executor/cpu.hpp>

#include <chrono>
#include <cstdio>
#include <exception>

#include "learning.hpp"
#include "on_gpu.hpp"
#include "options.hpp"
#include "twin.hpp"

namespace char_lm {

cr::Cpu cpu(const Options& options) { return {.threads = options.threads, .seed = options.seed}; }

/// Trains without hooks, and writes the inputs and results to files.
void make_twin_files(const Options& options) {
  const auto training = read_parts(options.text).first;
  cr::DataBatches batches = windows(training, 1).shuffle(options.seed).batch(options.batch).repeat();
  TwinFiles files(options.twin);
  cr::MonitoredSession session{cpu(options).compile<Model>()};
  files.weights(session.executor());
  cr::run_session(session, [&](auto& s) {
    for (std::int64_t i = 0; i < options.steps; ++i) {
      const auto feeds = batches.next();
      const auto [rate] = s.run(cr::no_hooks, cr::fetches<"learning_rate">);  // of the next step
      const auto before = std::chrono::steady_clock::now();
      const auto [loss, norm] = s.run("train"_n, cr::fetches<"loss", "global_norm">, feeds);
      const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - before;
      files.batch(feeds.get<cr::Name<"tokens">>().value, feeds.get<cr::Name<"labels">>().value);
      files.step(loss, rate, norm, seconds.count());
    }
  });
  files.close();
  std::printf("%d steps, for twin.py, in %s\n", static_cast<int>(options.steps), options.twin.c_str());
}

void run(const Options& options) {
  if (!options.twin.empty()) return make_twin_files(options);
#ifdef CROCHET_DEMO_CUDA
  if (options.device == "cuda") return learn_and_write_on_gpu(options);
#endif
  learn_and_write(options, cpu(options));
}

}  // namespace char_lm

int main(int argc, char** argv) {
  char_lm::Options options;
  CLI::App app{"Trains a small GPT on the characters of a text, and lets it write."};
  options.declare(app);
  CLI11_PARSE(app, argc, argv);
  try {
    char_lm::run(options);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
