// SPDX-License-Identifier: Apache-2.0
// EarlyStopping<"val_loss">: stops when a value does not get better any more.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

#include <crochet/base/config.hpp>
#include <crochet/base/error.hpp>
#include <crochet/hook/phase.hpp>
#include <crochet/hook/run_args.hpp>
#include <crochet/hooks/kit/aim.hpp>
#include <crochet/hooks/kit/value_text.hpp>

namespace crochet {

/// How long to wait for a better value. Usable without a hook:
///   Patience patience{.aim = Aim::highest, .patience = 5};
///   if (patience.exhausted(accuracy, step)) break;
struct Patience {
  /// Which values are better; required.
  Aim aim;
  /// So many values in a row that are not better exhaust it; at least 1.
  std::int64_t patience = 10;
  /// A value is better only if it differs from the best by more than this; not below 0.
  double min_delta = 0;

  double best = 0;
  std::int64_t best_step = -1;  // -1: no value yet
  std::int64_t since = 0;       // values since the best one

  /// Takes note of a value. True when it is time to stop. NaN is never better.
  constexpr bool exhausted(double value, std::int64_t step) {
    if (better(value)) {
      best = value;
      best_step = step;
      since = 0;
    } else {
      ++since;
    }
    return since >= patience;
  }

 private:
  [[nodiscard]] constexpr bool better(double value) const {
    if (best_step < 0) return value == value;
    return aim.better(value, best, min_delta);
  }
};

/// Compares a scalar with the best one so far, and stops the loop after `patience` values in a row that are not better:
/// `EarlyStopping<"val_loss">{.aim = Aim::lowest, .patience = 5}`.
///   Text       -      -        the scalar
///   aim        -      -        required: Aim::lowest for a loss, Aim::highest for an accuracy
///   patience   looks  10       so many in a row that are not better; at least 1
///   min_delta  -      0        better is better by more than this; not below 0
///   min_steps  steps  0        runs that end before this global step are not looked at
/// A setting out of range: begin throws LogicError. Fires: after every run that it sees; wrapped in EveryN or OnlyIn it
/// counts those. Fetches: the scalar, in those runs. Cost: that, and two comparisons. State: the best value, its step
/// and the count; a training that it has stopped runs no further step when it is resumed. For a value that Evaluate
/// computes, publish it to a MetricChannel and take stop_if_no_decrease or stop_if_no_increase. The original reads such
/// values from event files that another process may write.
template <FixedString Text>
struct EarlyStopping {
  using handles =
      Phases<phase::begin, phase::after_create_session, phase::after_run, phase::save_state, phase::load_state>;
  static constexpr Fetches<Name<Text>> fetches{};

  Aim aim;
  std::int64_t patience = 10;
  double min_delta = 0;
  std::int64_t min_steps = 0;

  /// What is known so far: `best`, `best_step`, `since`.
  Patience seen{.aim = aim};

  void begin() {
    if (patience < 1) throw LogicError("crochet: EarlyStopping: patience has to be at least 1");
    if (!(min_delta >= 0)) throw LogicError("crochet: EarlyStopping: min_delta must not be below 0");
    seen = {.aim = aim, .patience = patience, .min_delta = min_delta};
  }

  void after_create_session(auto& /*session*/, auto& coordinator) {
    if (seen.since >= patience) coordinator.request_stop(reason(), "EarlyStopping");
  }
  void after_run(auto& run, const auto& values) {
    const auto value = values[Name<Text>{}];
    static_assert(std::is_arithmetic_v<std::remove_const_t<decltype(value)>>, "crochet: EarlyStopping needs a scalar");
    if (run.step() < min_steps) return;
    if (seen.exhausted(static_cast<double>(value), run.step())) [[unlikely]] {
      run.request_stop(reason());
    }
  }

  void save_state(auto& out) const {
    out.put("best", seen.best);
    out.put("best_step", seen.best_step);
    out.put("since", seen.since);
  }
  void load_state(auto& in) {
    in.get("best", seen.best);
    in.get("best_step", seen.best_step);
    in.get("since", seen.since);
  }

 private:
  [[nodiscard]] CROCHET_COLD std::string reason() const {
    const std::string name{Text.view()};
    if (seen.best_step < 0) return name + " was never a number";
    return name + " is not " + std::string(aim.comparative()) + " than " + detail::value_text(seen.best) +
           ", of step " + std::to_string(seen.best_step) + ", since " + std::to_string(seen.since) + " looks";
  }
};

}  // namespace crochet
