// SPDX-License-Identifier: Apache-2.0
// Training steps of W1 to W6 in every mode, under a MonitoredSession as in a user's program. One translation unit for
// each workload, because each compiles several models.
#pragma once
#include <crochet/crochet.hpp>
#include <crochet/hooks.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "../anchor/data.hpp"
#include "../models.hpp"
#include "device.hpp"
#include "measure.hpp"
#include "program.hpp"

namespace bench {

void steps_of_mlp(const Options& options);
void steps_of_wide(const Options& options);
void steps_of_cnn(const Options& options);
void steps_of_encoder(const Options& options);
void steps_of_other(const Options& options);

/// One fetch of the loss and a training step. The loss is not read, so that runs stay queued.
inline constexpr auto training_step = [](auto& session, const auto&... feeds) {
  session.run(crochet::fetches<"loss">, crochet::targets<"train">, feeds...);
};

/// Stock hooks that act at the first run and then after more steps than a measurement has. What they log is dropped.
inline auto hooks_not_due() {
  const crochet::Sink nowhere = [](std::string_view) {};
  constexpr std::int64_t never = std::int64_t{1} << 60;
  return crochet::HookChain{crochet::StopAtStep{.last_step = never},
                            crochet::LoggingTensor<"loss">{.every_steps = never, .sink = nowhere},
                            crochet::StepCounter{.every_steps = never, .sink = nowhere}};
}
/// The loss is read in every hundredth step.
inline auto logging_chain() {
  return crochet::HookChain{crochet::LoggingTensor<"loss">{.every_steps = 100, .sink = [](std::string_view) {}}};
}

/// A case of the report: a workload and its batch.
struct StepCase {
  std::string name;
  const Options& options;
};

/// Measures the step of one mode. `fill(executor)` writes variables before the first run.
template <class Model, class Chain, class Fill, class Step, class... F>
void measure_mode(const StepCase& of, const char* mode, const Launching& launching, Chain chain, const Fill& fill,
                  const Step& step, const F&... feeds) {
  crochet::MonitoredSession session{executor_of<Model>(launching), std::move(chain)};
  fill(session.executor());
  const Measured m = measure(
      [&](long n) {
        for (; n > 0; --n) step(session, feeds...);
        finish(session.executor());
      },
      of.options);
  report({{"part", "steps"}, {"case", of.name}, {"mode", mode}, {"us", m.median}, {"least", m.least}, {"n", m.n}});
  session.close();
}

/// All modes of a model whose data is on the device.
template <class Model, class Fill, class Step>
void measure_resident(const StepCase& of, const Fill& fill, const Step& step) {
  measure_mode<Model>(of, "resident", {}, crochet::HookChain{}, fill, step);
  measure_mode<Model>(of, "one run a launch", {.steps = 1}, crochet::HookChain{}, fill, step);
  measure_mode<Model>(of, "hooks not due", {}, hooks_not_due(), fill, step);
  measure_mode<Model>(of, "loss logged every 100", {}, logging_chain(), fill, step);
}

/// All modes of a model that is trained on labelled data. Resident and Fed: the model with data of either kind.
template <class Resident, class Fed, class Label>
void measure_training(const std::string& name, const Options& options, const std::vector<float>& images,
                      const std::vector<Label>& labels) {
  try_case("steps", name, options, [&] {
    const StepCase of{name, options};
    measure_resident<Resident>(
        of,
        [&](auto& executor) {
          std::ranges::copy(images, executor.variable(crochet::Name<"images">{}).begin());
          std::ranges::copy(labels, executor.variable(crochet::Name<"labels">{}).begin());
        },
        training_step);
    measure_mode<Fed>(
        of, "feeds", {}, crochet::HookChain{}, [](auto&) {}, training_step, crochet::feed<"images">(images),
        crochet::feed<"labels">(labels));
  });
}

}  // namespace bench
