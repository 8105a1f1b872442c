// SPDX-License-Identifier: Apache-2.0
// ReduceOnPlateau<"loss">: lowers the learning rate when a value no longer improves.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>

#include <crochet/base/config.hpp>
#include <crochet/base/error.hpp>
#include <crochet/base/sink.hpp>
#include <crochet/hook/phase.hpp>
#include <crochet/hook/run_args.hpp>
#include <crochet/hooks/kit/anchor.hpp>
#include <crochet/hooks/kit/cadence.hpp>
#include <crochet/hooks/kit/cadence_of.hpp>
#include <crochet/hooks/kit/load_count.hpp>
#include <crochet/hooks/kit/metric_cursor.hpp>
#include <crochet/hooks/kit/steered_number.hpp>
#include <crochet/hooks/kit/value_text.hpp>
#include <crochet/hooks/plateau_rate.hpp>

namespace crochet {

namespace detail {

/// "loss is not lower than 0.5, of step 300; learning_rate = 0.0001 from step 400 on".
inline std::string plateau_text(const std::string& value, std::string_view rate, const PlateauRate& rule,
                                std::int64_t step) {
  return value + " is not " + std::string(rule.aim.comparative()) + " than " + value_text(rule.seen.best) +
         ", of step " + std::to_string(rule.seen.best_step) + "; " + std::string(rate) + " = " + value_text(rule.now) +
         " from step " + std::to_string(step) + " on";
}

}  // namespace detail

/// Averages a scalar over every `every_steps` steps, and reduces the rate after `patience` consecutive averages without
/// improvement:
///   ReduceOnPlateau<"loss">{.rule = {.aim = Aim::lowest, .rate = 0.1, .patience = 5}, .every_steps = 500}
///   Value        -     -                the scalar
///   Rate         -     "learning_rate"  a scalar placeholder, which is fed in every run; if the model has none, a
///                                       variable of that name, which is written when the rate changes
///   rule               see PlateauRate  aim (required), rate, factor, patience, ...; out of range: begin throws
///                                       LogicError
///   every_steps  steps  100             between two evaluations of the rule; above 0
///   every_epochs epochs unset           in place of every_steps
///   anchor       -     global_step      at multiples of every_steps; first_run: after runs 1 + N, 1 + 2N, ...
///   sink               standard error   receives a line for each reduction
/// - Fires: feeds in every run; evaluates the rule after the run that makes a multiple of every_steps.
/// - Fetches: Value, in every run.
/// - Cost: the fetch, an addition and the feed.
/// - State: the rate, the best value, the counts since then, and the sum of the current interval. After a recovery that
///   initializes anew the rate is the first one.
/// - Throws: LogicError from before_run if the model has neither such a placeholder nor such a scalar variable. A name
///   that the graph lacks is a compile error.
/// - TensorFlow has no such hook.
template <FixedString Value, FixedString Rate = "learning_rate">
struct ReduceOnPlateau {
  using handles = Phases<phase::begin, phase::after_create_session, phase::before_run, phase::after_run,
                         phase::save_state, phase::load_state>;
  static constexpr Fetches<Name<Value>> fetches{};

  PlateauRate rule;
  std::optional<std::int64_t> every_steps{};
  std::optional<std::int64_t> every_epochs{};
  Anchor anchor = Anchor::global_step;
  Sink sink{};

  /// State of the current interval; begin resets it.
  struct State {
    Cadence timer{};
    double sum = 0;
    std::int64_t runs = 0;
    bool loaded = false;  // sum and runs, for the session that is created
    double written = std::numeric_limits<double>::quiet_NaN();
  };
  State state{};

  /// The rate of the next run.
  [[nodiscard]] double rate() const { return rule.now; }

  void mute() { sink = no_lines; }
  void begin() {
    rule.start("ReduceOnPlateau");
    state = {.timer = required_cadence_of<ReduceOnPlateau>(every(), anchor)};
  }
  void after_create_session(auto& session, auto& /*coordinator*/) {
    if (rule.seen.is_ahead_of(session.step())) rule.start("ReduceOnPlateau");
    // The runs of the sum were lost; after a recovery also where the interval began at this step.
    const auto begun = state.timer.last_step();
    const bool again = begun == session.step() && session.creation() > 1 && !state.loaded;
    if (begun > session.step() || again) state.sum = 0, state.runs = 0;
    state.loaded = false;
    state.timer.session_begins(session, 0);
    state.written = std::numeric_limits<double>::quiet_NaN();  // the variables are new
  }

  auto before_run(auto& run) {
    return RunArgs{crochet::fetches<Value>, detail::steer<Rate>(run, rule.now, state.written)};
  }
  void after_run(auto& run, const auto& values) {
    const auto value = values[Name<Value>{}];
    static_assert(std::is_arithmetic_v<std::remove_const_t<decltype(value)>>,
                  "crochet: ReduceOnPlateau needs a scalar");
    if (run.skipped()) return;
    state.sum += static_cast<double>(value);
    ++state.runs;
    if (state.timer.due(run, [] { return 0.0; })) [[unlikely]] {
      look(run.step());
    }
  }

  void save_state(auto& out) const {
    rule.save_state(out);
    out.put("sum", state.sum);
    out.put("runs", state.runs);
    out.section("Cadence", [&] { state.timer.save_state(out, 0); });
  }
  void load_state(auto& in) {
    rule.load_state(in);
    in.get("sum", state.sum);
    state.loaded = detail::load_count(in, "runs", state.runs);
    in.section("Cadence", [&] { state.timer.load_state(in, 0); });
  }

  [[nodiscard]] std::string cadence() const { return "feeds every run, looks " + cadence_text(every(), anchor); }

 private:
  [[nodiscard]] Intervals every() const { return Intervals{every_steps, {}, every_epochs}.or_every(100); }
  CROCHET_COLD void look(std::int64_t step) {
    const bool interval_is_over = state.timer.triggered(step, 0).has_value();
    const double mean = state.sum / static_cast<double>(state.runs);
    state.sum = 0;
    state.runs = 0;
    if (!interval_is_over) return;  // the first run starts the interval
    if (rule.reduced(mean, step)) sink(detail::plateau_text(std::string(Value.view()), Rate.view(), rule, step));
  }
};

/// ReduceOnPlateau for a metric that an evaluator publishes; evaluates the rule once per published step:
///   ReduceOnMetricPlateau<>{.metrics = metrics, .metric = "accuracy", .rule = {.aim = Aim::highest, .rate = 0.1}}
///   Rate     -  "learning_rate"  as for ReduceOnPlateau
///   metrics  -  a new channel    the channel to which the evaluator publishes
///   metric   -  -                its name there; after_run throws LogicError if only other metrics are published
///   rule, sink                   as for ReduceOnPlateau
/// - Fires: feeds in every run; evaluates the rule after a run in which, or since which, a metric was published.
/// - Fetches: nothing.
/// - Cost: one load and the feed.
/// - State: the rate, the best value, the counts since then, the channel's history (MetricCursor). After a recovery
///   that initializes anew the rate is the first one.
/// - Stands behind the hooks that publish; otherwise the chain does not compile.
template <FixedString Rate = "learning_rate">
struct ReduceOnMetricPlateau {
  using handles = Phases<phase::begin, phase::after_create_session, phase::before_run, phase::after_run,
                         phase::save_state, phase::load_state>;
  using after = Hooks<PublishesMetrics>;

  MetricChannel metrics{};
  std::string metric{};
  PlateauRate rule;
  Sink sink{};

  /// State so far; begin resets it.
  struct State {
    MetricCursor cursor{};
    double written = std::numeric_limits<double>::quiet_NaN();
  };
  State state{};

  [[nodiscard]] double rate() const { return rule.now; }

  void mute() { sink = no_lines; }
  void begin() {
    rule.start("ReduceOnMetricPlateau");
    state = {};
    state.cursor.begin(metrics);
    if (metric.empty()) throw LogicError("crochet: ReduceOnMetricPlateau: set the name of the metric");
  }
  void after_create_session(auto& session, auto& /*coordinator*/) {
    if (rule.seen.is_ahead_of(session.step())) rule.start("ReduceOnMetricPlateau");
    state.written = std::numeric_limits<double>::quiet_NaN();
    state.cursor.open(metrics, session);
  }

  auto before_run(auto& run) { return detail::steer<Rate>(run, rule.now, state.written); }
  void after_run(auto& run, const auto& /*values*/) {
    if (state.cursor.has_news(metrics)) [[unlikely]] {
      look(run.step());
    }
  }

  void save_state(auto& out) const {
    rule.save_state(out);
    state.cursor.save_state(metrics, out);
  }
  void load_state(auto& in) {
    rule.load_state(in);
    state.cursor.load_state(metrics, in);
  }

  [[nodiscard]] std::string cadence() const { return "feeds every run, looks when there is news"; }

 private:
  CROCHET_COLD void look(std::int64_t step) {
    const auto news = state.cursor.next(metrics, metric);
    if (news && rule.reduced(news->value, news->step)) sink(detail::plateau_text(metric, Rate.view(), rule, step));
  }
};

}  // namespace crochet
