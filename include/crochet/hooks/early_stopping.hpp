// SPDX-License-Identifier: Apache-2.0
// EarlyStopping<"val_loss">: stops when a value no longer improves.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

#include <crochet/base/config.hpp>
#include <crochet/base/error.hpp>
#include <crochet/hook/phase.hpp>
#include <crochet/hook/run_args.hpp>
#include <crochet/hook/type_name.hpp>
#include <crochet/hooks/kit/aim.hpp>
#include <crochet/hooks/kit/load_count.hpp>
#include <crochet/hooks/kit/patience.hpp>
#include <crochet/hooks/kit/value_text.hpp>

namespace crochet {

/// Stops the loop after `patience` consecutive values of a scalar without improvement: `EarlyStopping<"val_loss">{.aim
/// = Aim::lowest, .patience = 5}`.
///   Text       -       -  the scalar
///   aim        -       -  required: Aim::lowest for a loss, Aim::highest for an accuracy
///   patience   values  10 number of consecutive values without improvement; at least 1
///   min_delta  -       0  an improvement is larger than this; not below 0
///   min_steps  steps   0  runs that end before this global step are ignored
/// A setting out of range: begin throws LogicError.
/// - Fires: after every admitted run; inside EveryN or OnlyIn it counts only the runs that they admit.
/// - Fetches: the scalar, in those runs.
/// - Cost: the fetch and two comparisons.
/// - State: the best value, its step and the count. A training that it has stopped makes no further step when resumed.
///   After a recovery that initializes anew it has no value yet.
/// - For a value that Evaluate computes: publish it to a MetricChannel and use stop_if_no_decrease or
///   stop_if_no_increase.
/// - TensorFlow reads such values from event files that another process may write.
template <FixedString Text>
struct EarlyStopping {
  using handles =
      Phases<phase::begin, phase::after_create_session, phase::after_run, phase::save_state, phase::load_state>;
  static constexpr Fetches<Name<Text>> fetches{};

  Aim aim;
  std::int64_t patience = 10;
  double min_delta = 0;
  std::int64_t min_steps = 0;

  /// The state so far: `best`, `best_step`, `since`.
  Patience seen{.aim = aim};

  void begin() {
    if (patience < 1) throw LogicError("crochet: EarlyStopping: patience has to be at least 1");
    if (!(min_delta >= 0)) throw LogicError("crochet: EarlyStopping: min_delta must not be below 0");
    start();
  }

  void after_create_session(auto& session, auto& coordinator) {
    if (seen.is_ahead_of(session.step())) start();
    if (seen.since >= patience) coordinator.request_stop(reason(), detail::readable_name<EarlyStopping>.view());
  }
  void after_run(auto& run, const auto& values) {
    const auto value = values[Name<Text>{}];
    static_assert(std::is_arithmetic_v<std::remove_const_t<decltype(value)>>, "crochet: EarlyStopping needs a scalar");
    if (run.step() < min_steps || run.skipped()) return;
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
    if (in.get("best_step", seen.best_step)) seen.last_step = seen.best_step;
    detail::load_count(in, "since", seen.since);
  }

 private:
  void start() { seen = {.aim = aim, .patience = patience, .min_delta = min_delta}; }
  [[nodiscard]] CROCHET_COLD std::string reason() const {
    const std::string name{Text.view()};
    if (seen.best_step < 0) return name + " was never a number";
    return name + " is not " + std::string(aim.comparative()) + " than " + detail::value_text(seen.best) +
           ", of step " + std::to_string(seen.best_step) + ", since " + std::to_string(seen.since) + " looks";
  }
};

}  // namespace crochet
