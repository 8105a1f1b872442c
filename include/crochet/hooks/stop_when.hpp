// SPDX-License-Identifier: Apache-2.0
// StopWhen<"residual">: stops when a value has crossed a bound.
#pragma once

#include <limits>
#include <optional>
#include <string>
#include <type_traits>

#include <crochet/base/config.hpp>
#include <crochet/base/error.hpp>
#include <crochet/hook/phase.hpp>
#include <crochet/hook/run_args.hpp>
#include <crochet/hook/type_name.hpp>
#include <crochet/hook/value_rules.hpp>
#include <crochet/hooks/kit/find_violation.hpp>
#include <crochet/hooks/kit/value_text.hpp>

namespace crochet {

/// Requests a stop when a scalar has crossed a bound: `StopWhen<"residual">{.below = 1e-8}`.
///   Text   -  -      the scalar
///   below  -  unset  at least one of the two, neither NaN, below <= above; else begin throws LogicError
///   above  -  unset
/// - Fires: after every admitted run whose value is beyond a bound. An equal value is not, and NaN never is (see
///   NanTensor).
/// - Fetches: the scalar, in those runs.
/// - Cost: two comparisons.
/// - State: the value that has crossed a bound. A training that it has ended makes no further step when resumed, unless
///   the bounds have changed so that the value is within them. List it in front of the hook that saves.
/// - On a GPU the device compares a scalar of floating-point type, and the host reads one flag a launch. The stop then
///   comes in a later run, at most 2 * steps_per_launch behind, or in `end`. Variables, global step, value and reason
///   are those of the run that crossed the bound: runs with hooks behind it are skipped (docs/cuda.md). An integer is
///   read in every run, and every scalar is in a run whose caller fetches values.
///   The bounds are those of the first run; a change of them is a LogicError in the next run.
template <FixedString Text>
struct StopWhen {
  using handles = Phases<phase::begin, phase::after_create_session, phase::after_run, phase::end, phase::save_state,
                         phase::load_state>;
  static constexpr Fetches<Name<Text>> fetches{};

  std::optional<double> below{};
  std::optional<double> above{};

  /// The value that has crossed a bound; NaN before.
  double crossed = not_a_number;

  void begin() {
    if (!below && !above) {
      throw LogicError("crochet: StopWhen<\"" + std::string(Text.view()) + "\">: set below, above or both");
    }
    const double lowest = below ? *below : *above;
    if (!(lowest <= (above ? *above : lowest))) {
      throw LogicError("crochet: StopWhen<\"" + std::string(Text.view()) +
                       "\">: a bound is not a number, or below is greater than above, which no value can satisfy");
    }
    crossed = not_a_number;
  }
  void after_create_session(auto& /*session*/, auto& coordinator) {
    if (detail::obeys(crossed, rule())) return;
    const auto single = static_cast<float>(crossed);
    coordinator.request_stop(static_cast<double>(single) == crossed ? reason(single) : reason(crossed),
                             detail::readable_name<StopWhen>.view());
  }

  template <class Run>
  void after_run(Run& run, const auto& values) {
    constexpr Name<Text> name{};
    static_assert(std::is_arithmetic_v<std::remove_cvref_t<decltype(values[name])>>,
                  "crochet: StopWhen needs a scalar");
    if constexpr (requires { values.violation(name, BoundsRule{}); }) {
      if (const auto found = detail::find_violation(run, name, values, rule())) run.request_stop(cross(found->value));
    } else if (const auto value = values[name]; !detail::obeys(value, rule()) && !run.skipped()) [[unlikely]] {
      run.request_stop(cross(value));
    }
  }
  /// A crossing that the executor has not reported yet.
  void end(auto& session) {
    using N = Name<Text>;
    if constexpr (requires { session.executor().template finish_watch<N>(session.hooked_workspace(), BoundsRule{}); }) {
      const auto found = session.executor().template finish_watch<N>(session.hooked_workspace(), rule());
      if (!found) return;
      session.note_late_stop(detail::readable_name<StopWhen>.view(), cross(found->value), found->runs_ago);
    }
  }

  void save_state(auto& out) const { out.put("crossed", crossed); }
  void load_state(auto& in) { in.get("crossed", crossed); }

 private:
  static constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

  CROCHET_COLD std::string cross(auto value) {
    crossed = static_cast<double>(value);
    return reason(value);
  }
  [[nodiscard]] BoundsRule rule() const { return {.lowest = below, .highest = above}; }

  CROCHET_COLD std::string reason(auto value) const {
    const bool is_low = below && static_cast<double>(value) < *below;
    return std::string(Text.view()) + " = " + detail::value_text(value) + (is_low ? " is below " : " is above ") +
           detail::value_text(is_low ? *below : *above);
  }
};

}  // namespace crochet
