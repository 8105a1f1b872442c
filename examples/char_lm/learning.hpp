// SPDX-License-Identifier: Apache-2.0
// The training, under its chain of hooks.
#pragma once
#include <crochet/crochet.hpp>
#include <crochet/hook/describe.hpp>
#include <crochet/hooks.hpp>

#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

#include "options.hpp"
#include "sample.hpp"

namespace char_lm {

/// The hooks of the run, in the order of their calls. They fetch the same values, so that every training step is the
/// same straight-line code.
inline auto hooks(const Options& options, const cr::Sequence<std::int32_t>& validation, double& validation_loss) {
  const cr::Sink nothing = [](std::string_view) {}, sink = options.quiet ? nothing : cr::Sink{};
  cr::Progress<"loss"> progress{.total = options.steps};
  if (options.quiet) progress.write = nothing;
  return cr::HookChain{
      cr::StopAtStep{.last_step = options.steps},
      cr::NanTensor<"loss", "global_norm">{},
      cr::LoggingTensor<"loss", "global_norm">{.every_steps = 200, .sink = sink},
      cr::StepCounter{.every_steps = 500, .sink = sink},
      cr::Evaluate{
          cr::fetches<"loss">,
          windows(validation, context).batch(32),
          {.every_steps = 500, .then = [&](const auto& result) { validation_loss = result["loss"_n]; }, .sink = sink}},
      progress,
  };
}

/// Trains the model on a device, Cpu or Cuda, then generates a text.
template <class Device>
void learn_and_write(const Options& options, const Device& device) {
  const auto [training, validation] = read_parts(options.text);
  cr::DataBatches batches = windows(training, 1).shuffle(options.seed).batch(options.batch).repeat();
  double validation_loss = 0;
  auto chain = hooks(options, validation, validation_loss);
  if (!options.quiet) std::printf("%s\n", cr::describe(chain).c_str());
  cr::MonitoredSession session{device.template compile<Model>(), chain};
  std::string written;
  cr::run_session(session, [&](auto& s) {
    while (!s.should_stop()) s.run("train"_n, batches.next());
    written = write(s, options.prompt, options.characters, options.temperature, options.seed);
  });
  std::printf("%s\nvalidation loss %.3f\n", written.c_str(), validation_loss);
}

}  // namespace char_lm
