// SPDX-License-Identifier: Apache-2.0
// Training steps of W1 to W6 in every mode, under a MonitoredSession as in a user's program. One translation unit for
// each workload, because each compiles several models.
#pragma once
#include <crochet/crochet.hpp>
#include <crochet/executor/cuda/device_data.hpp>

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "../anchor/data.hpp"
#include "../models.hpp"
#include "examples.hpp"
#include "program.hpp"
#include "step_modes.hpp"

namespace bench {

void steps_of_mlp(const Options& options);
void steps_of_wide(const Options& options);
void steps_of_cnn(const Options& options);
void steps_of_encoder(const Options& options);
void steps_of_other(const Options& options);

/// A data set on the device: each step is fed the indices of other rows.
template <class Fed, class Data>
void measure_rows(const StepCase& of, const Data& examples, std::int64_t batch) {
  auto executor = executor_of<Fed>({});
  const crochet::DeviceData images(executor, examples.images);
  const crochet::DeviceData labels(executor, examples.labels);
  std::vector<std::int32_t> order(static_cast<std::size_t>(images.size()));
  for (std::size_t k = 0; k < order.size(); ++k) order[k] = static_cast<std::int32_t>(k * 37 % order.size());
  const auto step = [&, at = std::size_t{0}](auto& session) mutable {
    const std::span<const std::int32_t> rows(order.data() + at, static_cast<std::size_t>(batch));
    training_step(session, crochet::feed<"images">(images.rows(rows)), crochet::feed<"labels">(labels.rows(rows)));
    at = (at + rows.size()) % (order.size() - rows.size() + 1);
  };
  measure_mode<Fed, Requests<"loss">>(
      of, "rows of DeviceData", {}, crochet::HookChain{Requests<"loss">{}}, [](auto&) {}, step);
}

/// All modes of a model that is trained on labelled data. Resident and Fed: the model with data of either kind.
template <class Resident, class Fed, class Data>
void measure_training(const std::string& name, const Options& options, const Data& examples, std::int64_t batch) {
  try_case("steps", name, options, [&] {
    const StepCase of{name, options};
    const Data first = examples.first(batch);
    const auto fill = [&](auto& executor) {
      std::ranges::copy(first.images, executor.variable(crochet::Name<"images">{}).begin());
      std::ranges::copy(first.labels, executor.variable(crochet::Name<"labels">{}).begin());
    };
    measure_resident<Resident>(of, Requests<"loss">{}, fill, training_step);
    measure_rows<Fed>(of, examples, batch);
    measure_mode<Fed, Requests<"loss">>(
        of, "feeds", {}, crochet::HookChain{Requests<"loss">{}}, [](auto&) {}, training_step,
        crochet::feed<"images">(first.images), crochet::feed<"labels">(first.labels));
    measure_precisions<Resident>(of, fill);  // last: a GPU before Ampere has none
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
