// SPDX-License-Identifier: Apache-2.0
// Training steps of W1 to W6 in every mode, under a MonitoredSession as in a user's program. One translation unit for
// each workload, because each compiles several models.
#pragma once
#include <crochet/crochet.hpp>
#if __has_include(<crochet/executor/cuda/device_data.hpp>)
#include <crochet/executor/cuda/device_data.hpp>
#define CROCHET_BENCH_DEVICE_DATA
#endif
#include <crochet/hooks.hpp>

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "../anchor/data.hpp"
#include "../models.hpp"
#include "device.hpp"
#include "examples.hpp"
#include "measure.hpp"
#include "program.hpp"

namespace bench {

void steps_of_mlp(const Options& options);
void steps_of_wide(const Options& options);
void steps_of_cnn(const Options& options);
void steps_of_encoder(const Options& options);
void steps_of_other(const Options& options);

/// Requests values in every run and does not read them: they are computed, and runs stay queued. The peers compute the
/// loss in every step too.
template <crochet::FixedString... Name>
struct Requests {
  static constexpr auto fetches = crochet::fetches<Name...>;
  void after_run(auto&, const auto&) {}
};

inline constexpr auto training_step = [](auto& session, const auto&... feeds) {
  session.run(crochet::targets<"train">, feeds...);
};

/// Hooks whose lines are dropped. Not templates: g++ 12 fails on such initializers in one.
inline crochet::LoggingTensor<"loss"> logging(std::int64_t every_steps) {
  return {.every_steps = every_steps, .sink = [](std::string_view) {}};
}
inline crochet::StepCounter counting(std::int64_t every_steps) {
  return {.every_steps = every_steps, .sink = [](std::string_view) {}};
}

/// Stock hooks that act at the first run and then after more steps than a measurement has.
template <class R>
auto hooks_not_due(const R& requests) {
  constexpr std::int64_t never = std::int64_t{1} << 60;
  return crochet::HookChain{requests, crochet::StopAtStep{.last_step = never}, logging(never), counting(never)};
}

/// A case of the report: a workload and its batch.
struct StepCase {
  std::string name;
  const Options& options;
};

/// Measures the step of one mode. `fill(executor)` writes variables before the first run.
template <class Model, class Chain, class Fill, class Step, class... F>
void measure_mode(const StepCase& of, const char* mode, const Launching& launching, Chain chain, const Fill& fill,
                  Step step, const F&... feeds) {
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

/// All modes of a model whose data is on the device. R: what is requested in every run.
template <class Model, class R, class Fill, class Step>
void measure_resident(const StepCase& of, const R& requests, const Fill& fill, const Step& step) {
  const crochet::HookChain plain{requests};
  measure_mode<Model>(of, "resident", {}, plain, fill, step);
  measure_mode<Model>(of, "one run a launch", {.steps = 1}, plain, fill, step);
  if constexpr (has_graphs<>) measure_mode<Model>(of, "graph", {.graph = true}, plain, fill, step);
  measure_mode<Model>(of, "hooks not due", {}, hooks_not_due(requests), fill, step);
  measure_mode<Model>(of, "loss logged every 100", {}, crochet::HookChain{requests, logging(100)}, fill, step);
}

/// A data set on the device: each step is fed the indices of other rows.
template <class Fed, class Data>
void measure_rows(const StepCase& of, const Data& examples, std::int64_t batch) {
#if defined(CROCHET_BENCH_DEVICE_DATA)
  auto executor = executor_of<Fed>({});
  const crochet::DeviceData images(executor, examples.images), labels(executor, examples.labels);
  std::vector<std::int32_t> order(static_cast<std::size_t>(images.size()));
  for (std::size_t k = 0; k < order.size(); ++k) order[k] = static_cast<std::int32_t>(k * 37 % order.size());
  const auto step = [&, at = std::size_t{0}](auto& session) mutable {
    const std::span<const std::int32_t> rows(order.data() + at, static_cast<std::size_t>(batch));
    training_step(session, crochet::feed<"images">(images.rows(rows)), crochet::feed<"labels">(labels.rows(rows)));
    at = (at + rows.size()) % (order.size() - rows.size() + 1);
  };
  measure_mode<Fed>(
      of, "rows of DeviceData", {}, crochet::HookChain{Requests<"loss">{}}, [](auto&) {}, step);
#else
  static_cast<void>(of), static_cast<void>(examples), static_cast<void>(batch);
#endif
}

/// All modes of a model that is trained on labelled data. Resident and Fed: the model with data of either kind.
template <class Resident, class Fed, class Data>
void measure_training(const std::string& name, const Options& options, const Data& examples, std::int64_t batch) {
  try_case("steps", name, options, [&] {
    const StepCase of{name, options};
    const Data first = examples.first(batch);
    measure_resident<Resident>(
        of, Requests<"loss">{},
        [&](auto& executor) {
          std::ranges::copy(first.images, executor.variable(crochet::Name<"images">{}).begin());
          std::ranges::copy(first.labels, executor.variable(crochet::Name<"labels">{}).begin());
        },
        training_step);
    measure_rows<Fed>(of, examples, batch);
    measure_mode<Fed>(
        of, "feeds", {}, crochet::HookChain{Requests<"loss">{}}, [](auto&) {}, training_step,
        crochet::feed<"images">(first.images), crochet::feed<"labels">(first.labels));
  });
}

/// Measures a classifier of images. Row: the shape of an image.
template <class Resident, class Fed, std::int64_t... Row>
void measure_classifier(const std::string& name, const Options& options, std::int64_t batch) {
  constexpr std::int64_t rows = is_gpu ? 4096 : 64;
  static const std::vector<float> images = pixels(rows * (Row * ... * 1));
  static const std::vector<std::int32_t> labels = classes(rows);
  const Examples<1 + sizeof...(Row), std::int32_t, 1> examples{{images.data(), {rows, Row...}},
                                                               {labels.data(), {rows}}};
  measure_training<Resident, Fed>(name, options, examples, batch);
}

}  // namespace bench
