// SPDX-License-Identifier: Apache-2.0
// Trains a small GPT on the characters of a text, under a chain of hooks, and generates text.
#include <crochet/crochet.hpp>
#include <crochet/executor/cpu.hpp>
#include <crochet/hook/describe.hpp>
#include <crochet/hooks.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>

#include "options.hpp"
#include "sample.hpp"
#include "twin.hpp"

namespace char_lm {

/// The hooks of the run, in the order of their calls. They fetch the same values, so that every training step is the
/// same straight-line code.
auto hooks(const Options& options, const Text& text, double& validation_loss) {
  const cr::Sink nothing = [](std::string_view) {}, sink = options.quiet ? nothing : cr::Sink{};
  cr::Progress<"loss"> progress{.total = options.steps};
  if (options.quiet) progress.write = nothing;
  const auto most = static_cast<std::int64_t>(text.validation().size()) / (context + 1);
  Windows windows(text.validation(), std::min<std::int64_t>(most, 32), context);
  return cr::HookChain{
      cr::StopAtStep{.last_step = options.steps},
      cr::NanTensor<"loss", "global_norm">{},
      cr::LoggingTensor<"loss", "global_norm">{.every_steps = 200, .sink = sink},
      cr::StepCounter{.every_steps = 500, .sink = sink},
      cr::Evaluate{
          cr::fetches<"loss">,
          [windows]() mutable { return windows.next(); },
          {.every_steps = 500, .then = [&](const auto& result) { validation_loss = result["loss"_n]; }, .sink = sink}},
      progress,
  };
}

/// Trains the model, then generates a text.
void learn_and_write(const Options& options) {
  const Text text(options.text);
  Windows windows(text.training(), options.batch, context);
  cr::SplitMix64 random(options.seed);
  double validation_loss = 0;
  auto chain = hooks(options, text, validation_loss);
  if (!options.quiet) std::printf("%s\n", cr::describe(chain).c_str());
  cr::MonitoredSession session{cr::Cpu{.threads = options.threads, .seed = options.seed}.compile<Model>(), chain};
  std::string written;
  cr::run_session(session, [&](auto& s) {
    while (!s.should_stop()) s.run("train"_n, windows.draw(random));
    written = write(s, options.prompt, options.characters, options.temperature, options.seed);
  });
  std::printf("%s\nvalidation loss %.3f\n", written.c_str(), validation_loss);
}

/// Trains without hooks, and writes the inputs and results to files.
void make_twin_files(const Options& options) {
  const Text text(options.text);
  Windows windows(text.training(), options.batch, context);
  cr::SplitMix64 random(options.seed);
  TwinFiles files(options.twin);
  cr::MonitoredSession session{cr::Cpu{.threads = options.threads, .seed = options.seed}.compile<Model>()};
  files.weights(session.executor());
  cr::run_session(session, [&](auto& s) {
    for (std::int64_t i = 0; i < options.steps; ++i) {
      const auto feeds = windows.draw(random);
      const auto [rate] = s.run(cr::no_hooks, cr::fetches<"learning_rate">);  // of the next step
      const auto before = std::chrono::steady_clock::now();
      const auto [loss, norm] = s.run("train"_n, cr::fetches<"loss", "global_norm">, feeds);
      const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - before;
      files.batch(windows.tokens(), windows.labels());
      files.step(loss, rate, norm, seconds.count());
    }
  });
  files.close();
  std::printf("%d steps, for twin.py, in %s\n", static_cast<int>(options.steps), options.twin.c_str());
}

}  // namespace char_lm

int main(int argc, char** argv) {
  char_lm::Options options;
  CLI::App app{"Trains a small GPT on the characters of a text, and lets it write."};
  options.declare(app);
  CLI11_PARSE(app, argc, argv);
  try {
    options.twin.empty() ? char_lm::learn_and_write(options) : char_lm::make_twin_files(options);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
