// SPDX-License-Identifier: Apache-2.0
// EpochMeans<"loss">: publishes the mean of scalars over the runs of each epoch.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <crochet/base/config.hpp>
#include <crochet/hook/phase.hpp>
#include <crochet/hook/run_args.hpp>
#include <crochet/hooks/kit/cadence.hpp>
#include <crochet/hooks/kit/data_pass.hpp>
#include <crochet/hooks/kit/metric_cursor.hpp>

namespace crochet {

/// Averages scalars over the runs of each epoch and publishes the means: `EpochMeans<"loss">{metrics}` publishes
/// "training/loss" after each epoch, and "training/epoch", the number of complete epochs.
///   Text...   -  -             the scalars
///   metrics   -  a new channel  receives the means
///   prefix    -  "training/"   of the published names
/// - The means are those of the weights during the epoch, as in Keras; Evaluate computes means with the weights after
///   it. Each run is weighted by the number of rows in the caller's feeds, on several ranks in those of all ranks, as
///   in Evaluate; runs without rows do not count, and those that a hook feeds (FeedFn) have the weight 1.
/// - Fires: after the run with the last batch of an epoch. A part of an epoch at the end of the training, and an epoch
///   without rows, is not published. Inside a decorator that omits runs (EveryN), the runs that it admits count, and
///   the first one behind the end of an epoch still belongs to that epoch.
/// - Fetches: the scalars, in every run.
/// - Cost: the fetch, an addition for each scalar, and a reading of the data's position per run.
/// - State: the sums of the current epoch, and the channel's history.
/// - Throws: LogicError from session creation without data that count epochs.
/// - TensorFlow has no such hook.
template <FixedString... Text>
struct EpochMeans : PublishesMetrics {
  static_assert(sizeof...(Text) > 0, "crochet: EpochMeans needs a name: EpochMeans<\"loss\">");
  using handles =
      Phases<phase::begin, phase::after_create_session, phase::after_run, phase::save_state, phase::load_state>;
  static constexpr Fetches<Name<Text>...> fetches{};

  MetricChannel metrics{};
  std::string prefix = "training/";

  /// The sums of the current epoch; begin resets them.
  struct State {
    Cadence timer = Cadence::every_epochs(1);
    MetricCursor cursor{};
    double weight = 0;
    std::int64_t step = 0;  // after the last run of these sums
    std::array<double, sizeof...(Text)> sums{};
  };
  State state{};

  EpochMeans() = default;
  explicit(false) EpochMeans(MetricChannel channel, std::string before = "training/")
      : metrics(std::move(channel)), prefix(std::move(before)) {}

  void begin() {
    state = {};
    state.cursor.begin(metrics);
    (metrics.announce(prefix + std::string(Text.view())), ...);
    metrics.announce(prefix + "epoch");
  }
  void after_create_session(auto& session, auto& /*coordinator*/) {
    if (state.step > session.step()) clear();  // the runs of these sums were lost
    state.timer.session_begins(session, 0);
    // An epoch has ended while the hook was off.
    if (state.step < session.step() && state.timer.due(session, [] { return 0.0; })) {
      clear();
      state.timer.start(session, 0);
    }
    state.cursor.open(metrics, session);
  }
  void after_run(auto& run, const auto& values) {
    if (run.skipped()) return;
    const double weight = run.session().weight_of_batch(detail::batch_size(run.original_args()));
    std::size_t i = 0;
    if (weight > 0) ((state.sums[i++] += weight * number(values[Name<Text>{}])), ...);
    state.weight += weight;
    state.step = run.step();
    if (state.timer.due(run, [] { return 0.0; })) [[unlikely]] {
      publish(run);
    }
  }

  void save_state(auto& out) const {
    out.put("weight", state.weight);
    out.put("step", state.step);
    out.put("sums", std::vector<double>(state.sums.begin(), state.sums.end()));
    out.section("Cadence", [&] { state.timer.save_state(out, 0); });
    state.cursor.save_state(metrics, out);
  }
  void load_state(auto& in) {
    std::vector<double> sums;
    in.get("step", state.step);
    if (in.get("weight", state.weight) && in.get("sums", sums) && sums.size() == state.sums.size())
      std::copy(sums.begin(), sums.end(), state.sums.begin());
    in.section("Cadence", [&] { state.timer.load_state(in, 0); });
    state.cursor.load_state(metrics, in);
  }

  [[nodiscard]] std::string cadence() const { return "every epoch"; }

 private:
  template <class T>
  static double number(const T& value) {
    static_assert(std::is_arithmetic_v<T>, "crochet: EpochMeans averages scalars");
    return static_cast<double>(value);
  }
  void clear() {
    state.weight = 0;
    state.sums = {};
  }
  CROCHET_COLD void publish(auto& run) {
    state.timer.triggered(run.step(), 0);
    if (state.weight == 0) return;
    std::size_t i = 0;
    (metrics.publish(prefix + std::string(Text.view()), run.step(), state.sums[i++] / state.weight), ...);
    metrics.publish(prefix + "epoch", run.step(), static_cast<double>(run.epoch()));
    clear();
  }
};

}  // namespace crochet
