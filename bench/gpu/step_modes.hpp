// SPDX-License-Identifier: Apache-2.0
// The modes of a step: how runs are launched, with which hooks, and at which precision.
#pragma once
#include <crochet/crochet.hpp>

#include <string>
#include <utility>

#include "device.hpp"
#include "measure.hpp"
#include "step_hooks.hpp"

namespace bench {

/// A case of the report: a workload and its batch.
struct StepCase {
  std::string name;
  const Options& options;
};

/// Measures the step of one mode. `fill(executor)` writes variables before the first run. R: the first hook of the
/// chain; the values that it reads in the first and in the last run show that the model is trained.
template <class Model, class R, class Chain, class Fill, class Step, class... F>
void measure_mode(const StepCase& of, const std::string& mode, const Launching& launching, Chain chain,
                  const Fill& fill, Step step, const F&... feeds) {
  crochet::MonitoredSession session{executor_of<Model>(launching), std::move(chain)};
  fill(session.executor());
  const Measured m = measure(
      [&](long n) {
        for (; n > 0; --n) step(session, feeds...);
        finish(session.executor());
      },
      of.options);
  R& requests = session.hooks().template get<R>();
  const double first = requests.value;
  requests.reads = true;
  step(session, feeds...);
  report({{"part", "steps"},
          {"case", of.name},
          {"mode", mode},
          {"us", m.median},
          {"least", m.least},
          {"n", m.n},
          {"first", first},
          {"last", requests.value}});
  session.close();
}

/// The step with products of less precision, where the library has them.
template <class Model, class Fill>
void measure_precisions(const StepCase& of, const Fill& fill) {
  for (const Precision precision : {Precision::tf32, Precision::bf16}) {
    const auto on = device(precision);
    if (on == nullptr) continue;
    const std::string mode = std::string("resident, ") + name_of(precision);
    using R = Requests<"loss">;
    measure_mode<Model, R>(of, mode, {.on = on}, crochet::HookChain{R{}}, fill, training_step);
  }
}

/// All modes of a model whose data is on the device. R: what is requested in every run.
template <class Model, class R, class Fill, class Step>
void measure_resident(const StepCase& of, const R& requests, const Fill& fill, const Step& step) {
  const crochet::HookChain plain{requests};
  measure_mode<Model, R>(of, "resident", {}, plain, fill, step);
  measure_mode<Model, R>(of, "one run a launch", {.steps = 1}, plain, fill, step);
  measure_mode<Model, R>(of, "graph", {.mode = crochet::CudaMode::graph}, plain, fill, step);
  measure_mode<Model, R>(of, "hooks not due", {}, hooks_not_due(requests), fill, step);
  measure_mode<Model, R>(of, "loss logged every 100", {}, crochet::HookChain{requests, logging(100)}, fill, step);
}

}  // namespace bench
