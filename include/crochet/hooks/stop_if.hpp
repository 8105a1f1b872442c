// SPDX-License-Identifier: Apache-2.0
// stop_if_higher, stop_if_lower, stop_if_no_increase, stop_if_no_decrease: early stopping by an evaluator's metrics.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <crochet/base/clock.hpp>
#include <crochet/base/config.hpp>
#include <crochet/base/error.hpp>
#include <crochet/base/sink.hpp>
#include <crochet/hook/phase.hpp>
#include <crochet/hook/type_name.hpp>
#include <crochet/hooks/kit/anchor.hpp>
#include <crochet/hooks/kit/cadence.hpp>
#include <crochet/hooks/kit/cadence_of.hpp>
#include <crochet/hooks/kit/metric_cursor.hpp>
#include <crochet/hooks/kit/metric_rules.hpp>
#include <crochet/hooks/kit/patience.hpp>
#include <crochet/hooks/kit/stop_signal.hpp>

namespace crochet {

/// EarlyStoppingOptions for metrics. Without an interval: a check whenever a metric was published. Values of steps
/// before `min_steps` are ignored.
struct StopIfOptions {
  std::int64_t min_steps = 0;
  std::optional<double> run_every_seconds{};
  std::optional<std::int64_t> run_every_steps{};
  std::optional<std::int64_t> run_every_epochs{};
  Anchor anchor = Anchor::global_step;
  StopSignal signal{};
  Sink sink{};
  Clock clock{};
};

namespace detail {
inline double threshold_of(std::string_view hook, double threshold) {
  if (threshold == threshold) return threshold;
  throw LogicError("crochet: " + std::string(hook) + ": the threshold is not a number");
}
inline std::int64_t patience_of(std::string_view hook, std::int64_t steps) {
  if (steps >= 1) return steps;
  throw LogicError("crochet: " + std::string(hook) + ": the number of steps has to be at least 1");
}
}  // namespace detail

/// The hook of stop_if_higher, stop_if_lower, stop_if_no_increase, stop_if_no_decrease and stop_if_exhausted. `Rule`:
/// CrossedThreshold, NoImprovement or ExhaustedPatience. A check reads the whole history.
template <class Rule>
class StopIfMetric {
 public:
  using handles = Phases<phase::begin, phase::after_create_session, phase::after_run, phase::end, phase::save_state,
                         phase::load_state>;
  using after = Hooks<PublishesMetrics>;

  StopIfMetric(Rule rule, StopIfOptions options) : rule_(std::move(rule)), options_(std::move(options)) {}

  void mute() { options_.sink = no_lines; }
  void begin() {
    timer_ = cadence_of<StopIfMetric>(every(), options_.anchor, Cadence::First::at_once,
                                      {"run_every_steps", "run_every_seconds", "run_every_epochs"});
    cursor_.begin(rule_.metrics);
    checked_at_ = -1;
  }
  /// A training that it has stopped makes no further step when resumed.
  void after_create_session(auto& session, auto& coordinator) {
    timer_.session_begins(session, options_.clock());
    cursor_.open(rule_.metrics, session);
    if (checked_at_ != session.step()) return;
    if (const std::optional<std::string> reason = check(session.step())) {
      options_.signal.request(*reason);
      coordinator.request_stop(*reason, detail::readable_name<StopIfMetric>.view());
    }
  }
  void after_run(auto& run, const auto& /*values*/) {
    if (due(run)) [[unlikely]] {
      if (const std::optional<std::string> reason = check(run.step())) stop(run, *reason);
    }
  }
  void end(auto& /*session*/) {
    if (const std::string text = rule_.warning(); !text.empty()) options_.sink(text);
  }

  /// State: the last and the next check, and the channel's history.
  void save_state(auto& out) const {
    timer_.save_state(out, options_.clock());
    out.put("checked", checked_at_);
    cursor_.save_state(rule_.metrics, out);
  }
  void load_state(auto& in) {
    timer_.load_state(in, options_.clock());
    in.get("checked", checked_at_);
    cursor_.load_state(rule_.metrics, in);
  }

  [[nodiscard]] std::string cadence() const {
    const std::string interval = cadence_text(every(), options_.anchor);
    return interval.empty() ? "when " + rule_.metric + " is published" : interval;
  }

 private:
  [[nodiscard]] Intervals every() const {
    return {options_.run_every_steps, options_.run_every_seconds, options_.run_every_epochs};
  }
  /// Without an interval: in the first run and whenever a metric was published.
  bool due(auto& run) {
    if (!every().any()) {
      return checked_at_ < 0 || cursor_.has_news(rule_.metrics);
    }
    if (!timer_.due(run, options_.clock)) return false;
    timer_.triggered(run.step(), options_.clock());
    return true;
  }
  CROCHET_COLD std::optional<std::string> check(std::int64_t step) {
    checked_at_ = step;
    cursor_.mark_read(rule_.metrics);
    return rule_();
  }
  CROCHET_COLD void stop(auto& run, const std::string& reason) {
    options_.signal.request(reason);
    run.request_stop(reason);
  }

  Rule rule_;
  StopIfOptions options_;
  Cadence timer_;
  MetricCursor cursor_;
  std::int64_t checked_at_ = -1;  // the step of the last check
};

/// Stops when the metric was above the threshold at any step: `stop_if_higher(metrics, "accuracy", 0.99,
/// {.run_every_steps = 100})`.
///   metrics            -        the channel to which the evaluator publishes
///   metric             -        its name there; a check throws LogicError if only other metrics are published
///   threshold          -        values strictly beyond it stop the loop; LogicError for NaN
///   min_steps          steps    0      values of earlier steps are ignored
///   run_every_steps    steps    unset  global steps; at most one of the three intervals. Unset: a check whenever a
///                                      metric was published. Several, or one out of range: begin throws LogicError
///   run_every_seconds  seconds  unset
///   run_every_epochs   epochs   unset  epochs of the data
///   anchor             -        global_step   first_run: after runs 1, 1 + N, 1 + 2N, ...
///   signal             -        one of its own   also stops the sessions with a CheckForStopping of this signal
///   sink, clock                 standard error, steady
/// - Fires: without an interval after the first run and in the step of each evaluation, else at the interval.
/// - Fetches: nothing.
/// - Cost: a load or a comparison per run, with seconds a clock reading; a check reads all values.
/// - State: the last check, and the channel's history (MetricCursor). A resumed training stops at the same step as an
///   uninterrupted one.
/// - Stands behind the hooks that publish, else the chain does not compile. `end` reports if no metric was ever
///   published.
/// - TensorFlow checks every 60 s and reads all event files of the evaluator's folder, so it finds only what another
///   process has written.
inline auto stop_if_higher(MetricChannel metrics, std::string metric, double threshold,
                           const StopIfOptions& options = {}) {
  return StopIfMetric<CrossedThreshold>{
      {std::move(metrics), std::move(metric), detail::threshold_of("stop_if_higher", threshold), Aim::highest,
       options.min_steps},
      options};
}
/// Stops when the metric was below the threshold at any step.
inline auto stop_if_lower(MetricChannel metrics, std::string metric, double threshold,
                          const StopIfOptions& options = {}) {
  return StopIfMetric<CrossedThreshold>{
      {std::move(metrics), std::move(metric), detail::threshold_of("stop_if_lower", threshold), Aim::lowest,
       options.min_steps},
      options};
}
/// Stops when the metric has not become higher for `max_steps_without_increase` steps. LogicError if these are below 1.
inline auto stop_if_no_increase(MetricChannel metrics, std::string metric, std::int64_t max_steps_without_increase,
                                const StopIfOptions& options = {}) {
  return StopIfMetric<NoImprovement>{
      {std::move(metrics), std::move(metric), detail::patience_of("stop_if_no_increase", max_steps_without_increase),
       Aim::highest, options.min_steps},
      options};
}
/// Stops when the metric has not become lower for `max_steps_without_decrease` steps. LogicError if these are below 1.
inline auto stop_if_no_decrease(MetricChannel metrics, std::string metric, std::int64_t max_steps_without_decrease,
                                const StopIfOptions& options = {}) {
  return StopIfMetric<NoImprovement>{
      {std::move(metrics), std::move(metric), detail::patience_of("stop_if_no_decrease", max_steps_without_decrease),
       Aim::lowest, options.min_steps},
      options};
}

/// Stops after a number of consecutive evaluations without improvement: `stop_if_exhausted(metrics, "loss",
/// Patience{.aim = Aim::lowest, .patience = 5})`. With an evaluation in each epoch these are epochs. Options, state and
/// errors as for stop_if_higher; LogicError if the patience is below 1.
inline StopIfMetric<ExhaustedPatience> stop_if_exhausted(MetricChannel metrics, std::string metric, Patience rule,
                                                         StopIfOptions options = {}) {
  if (rule.patience < 1) throw LogicError("crochet: stop_if_exhausted: patience has to be at least 1");
  ExhaustedPatience exhausted{std::move(metrics), std::move(metric), rule, options.min_steps};
  return {std::move(exhausted), std::move(options)};
}

}  // namespace crochet
