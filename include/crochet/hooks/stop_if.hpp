// SPDX-License-Identifier: Apache-2.0
// stop_if_higher, stop_if_lower, stop_if_no_increase, stop_if_no_decrease: early stopping by what an evaluator found.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include <crochet/hooks/anchor.hpp>
#include <crochet/hooks/early_stopping.hpp>
#include <crochet/hooks/metric_channel.hpp>
#include <crochet/hooks/stop_on_predicate.hpp>
#include <crochet/hooks/value_text.hpp>

namespace crochet {

/// As EarlyStoppingOptions, and what was found before step `min_steps` does not count.
struct StopIfOptions {
  std::int64_t min_steps = 0;
  std::optional<double> run_every_seconds{};
  std::optional<std::int64_t> run_every_steps{};
  Anchor anchor = Anchor::global_step;
  StopSignal signal{};
  Sink sink{};
  Clock clock{};
};

/// Has any value crossed the threshold? One that equals it has not.
struct CrossedThreshold {
  MetricChannel metrics;
  std::string metric;
  double threshold;
  Aim beyond;  ///< highest: stops above the threshold; lowest: below
  std::int64_t min_steps;

  std::optional<std::string> operator()() const {
    std::optional<std::string> reason;
    metrics.for_each(metric, [&](std::int64_t step, double value) {
      if (reason || step < min_steps || !crossed(value)) return;
      reason = metric + " = " + detail::value_text(value) + " at step " + std::to_string(step) + " is " +
               (beyond == Aim::highest ? "above " : "below ") + detail::value_text(threshold);
    });
    return reason;
  }
  [[nodiscard]] std::string warning() const {
    if (!metrics.empty()) return "";
    return "crochet: early stopping has never seen " + metric + "; does an evaluator publish to its MetricChannel?";
  }

 private:
  [[nodiscard]] bool crossed(double value) const {
    return beyond == Aim::highest ? value > threshold : value < threshold;
  }
};

/// Has no value been better than the best for so many steps? Better is strictly better; NaN never is.
struct NoImprovement {
  MetricChannel metrics;
  std::string metric;
  std::int64_t max_steps;
  Aim aim;
  std::int64_t min_steps;

  std::optional<std::string> operator()() const {
    Patience seen{.patience = 1, .mode = aim};
    std::optional<std::int64_t> since;  // the step of the best value, or of the first one if none is a number
    std::optional<std::string> reason;
    metrics.for_each(metric, [&](std::int64_t step, double value) {
      if (reason || step < min_steps) return;
      if (!seen.exhausted(value, step) || !since) since = step;
      if (step - *since >= max_steps) reason = text(seen, step - *since);
    });
    return reason;
  }
  [[nodiscard]] std::string warning() const { return CrossedThreshold{metrics, metric, 0, aim, 0}.warning(); }

 private:
  [[nodiscard]] std::string text(const Patience& seen, std::int64_t steps) const {
    if (seen.best_step < 0) return metric + " was not a number for " + std::to_string(steps) + " steps";
    return metric + " is not " + (aim == Aim::highest ? "higher" : "lower") + " than " + detail::value_text(seen.best) +
           ", of step " + std::to_string(seen.best_step) + ", for " + std::to_string(steps) + " steps";
  }
};

namespace detail {

template <class Predicate>
StopOnPredicate<Predicate> stop_if(Predicate predicate, StopIfOptions options) {
  return make_early_stopping(std::move(predicate), {.run_every_seconds = options.run_every_seconds,
                                                    .run_every_steps = options.run_every_steps,
                                                    .anchor = options.anchor,
                                                    .signal = std::move(options.signal),
                                                    .sink = std::move(options.sink),
                                                    .clock = std::move(options.clock)});
}

}  // namespace detail

/// Stops when the metric was above the threshold at any step:
/// `stop_if_higher(metrics, "accuracy", 0.99, {.run_every_steps = 100})`.
///   metrics            -        the channel to which the evaluator publishes
///   metric             -        its name there; a check throws LogicError if others are published, but not this one
///   threshold          -        strictly beyond it
///   min_steps          steps    0      what was found earlier does not count
///   run_every_seconds  seconds  60     the rest is as for make_early_stopping
///   run_every_steps    steps    unset
///   anchor             -        global_step
/// Fires: after the run that makes a multiple of run_every_steps, with seconds after the first run and then at the
/// interval: in the step of the evaluation, if the evaluator has the same cadence and stands in front of it. Fetches:
/// nothing. Cost: a comparison, in seconds a reading of the clock; a look goes through all values. They only react to
/// evaluations that somebody else makes; where there never was one, `end` says so. The original reads all event files
/// of the evaluator's folder at every check, so that it sees only what another process wrote.
inline auto stop_if_higher(MetricChannel metrics, std::string metric, double threshold, StopIfOptions options = {}) {
  return detail::stop_if(
      CrossedThreshold{std::move(metrics), std::move(metric), threshold, Aim::highest, options.min_steps}, options);
}
/// Stops when the metric was below the threshold at any step.
inline auto stop_if_lower(MetricChannel metrics, std::string metric, double threshold, StopIfOptions options = {}) {
  return detail::stop_if(
      CrossedThreshold{std::move(metrics), std::move(metric), threshold, Aim::lowest, options.min_steps}, options);
}
/// Stops when the metric has not become higher for `max_steps_without_increase` steps.
inline auto stop_if_no_increase(MetricChannel metrics, std::string metric, std::int64_t max_steps_without_increase,
                                StopIfOptions options = {}) {
  return detail::stop_if(
      NoImprovement{std::move(metrics), std::move(metric), max_steps_without_increase, Aim::highest, options.min_steps},
      options);
}
/// Stops when the metric has not become lower for `max_steps_without_decrease` steps.
inline auto stop_if_no_decrease(MetricChannel metrics, std::string metric, std::int64_t max_steps_without_decrease,
                                StopIfOptions options = {}) {
  return detail::stop_if(
      NoImprovement{std::move(metrics), std::move(metric), max_steps_without_decrease, Aim::lowest, options.min_steps},
      options);
}

}  // namespace crochet
