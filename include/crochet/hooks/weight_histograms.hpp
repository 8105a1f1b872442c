// SPDX-License-Identifier: Apache-2.0
// WeightHistograms: writes histograms of all weights of a model.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <crochet/base/bfloat16.hpp>
#include <crochet/base/clock.hpp>
#include <crochet/base/config.hpp>
#include <crochet/hook/phase.hpp>
#include <crochet/hook/runs_on.hpp>
#include <crochet/hooks/kit/anchor.hpp>
#include <crochet/hooks/kit/cadence.hpp>
#include <crochet/hooks/kit/cadence_of.hpp>
#include <crochet/hooks/kit/summary_sink.hpp>

namespace crochet {

/// Saves a histogram of each weight under the variable's name: `WeightHistograms{.summaries = events}`.
///   every_steps    global steps  1000   at most one of the three; both, or one out of range: begin throws
///   every_seconds  seconds       unset  LogicError
///   every_epochs   epochs        unset   epochs of the data
///   anchor         -             global_step   first_run: after runs 1, 1001, ...
///   accept         -             unset  filter of the floating-point variables by name; unset: those with a dimension
///                                       that do not belong to another variable, as optimizer slots do
///                                       (`hidden/kernel/Adam` belongs to `hidden/kernel`)
///   summaries      -             none   the sink; without it the hook does nothing
/// - Fires: after the run that makes a multiple of every_steps; with every_seconds after the first run of a session,
///   then at the interval. A resumed session continues its interval.
/// - Fetches: nothing. Reads the variables of the executor (session/variables.hpp), which must have some. Values are
///   those after the run.
/// - Cost when due: a copy of the weights; else a comparison.
/// - For gradients: GradientHistograms.
/// - TensorFlow has no such hook.
struct WeightHistograms {
  static constexpr auto runs_on = RunsOn::chief;
  using handles =
      Phases<phase::begin, phase::after_create_session, phase::after_run, phase::save_state, phase::load_state>;

  std::optional<std::int64_t> every_steps{};
  std::optional<double> every_seconds{};
  std::optional<std::int64_t> every_epochs{};
  Anchor anchor = Anchor::global_step;
  std::function<bool(std::string_view name)> accept{};
  SummarySink summaries{};
  Clock clock{};

  /// State so far; begin resets it.
  struct State {
    Cadence timer;
  };
  State state{};

  void begin() { state = State{.timer = cadence_of<WeightHistograms>(every(), anchor)}; }

  void after_create_session(auto& session, auto& /*coordinator*/) { state.timer.session_begins(session, clock()); }
  void after_run(auto& run, const auto& /*values*/) {
    if (summaries && state.timer.due(run, clock)) [[unlikely]] {
      if (run.skipped()) return;
      save(run.step(), std::as_const(run.session().executor()));
    }
  }

  /// State: when the next summary is due.
  void save_state(auto& out) const { state.timer.save_state(out, clock()); }
  void load_state(auto& in) { state.timer.load_state(in, clock()); }

  [[nodiscard]] std::string cadence() const { return cadence_text(every(), anchor); }

 private:
  [[nodiscard]] Intervals every() const { return Intervals{every_steps, every_seconds, every_epochs}.or_every(1000); }

  template <class E>
  CROCHET_COLD void save(std::int64_t step, const E& executor) {
    state.timer.triggered(step, clock());
    std::vector<std::string> names;
    executor.for_each_variable([&](std::string_view name, auto, auto) { names.emplace_back(name); });
    io::Summary summary;
    executor.for_each_variable([&](std::string_view name, auto elements, std::span<const std::int64_t> shape) {
      using T = typename decltype(elements)::value_type;
      if constexpr (FloatingElement<T>) {
        const bool wanted = accept ? accept(name) : !shape.empty() && !belongs_to_another(name, names);
        if (wanted) summary.histogram(name, std::span<const T>(elements));
      }
    });
    summaries.add(std::move(summary), step);
  }
  static bool belongs_to_another(std::string_view name, const std::vector<std::string>& names) {
    const std::size_t slash = name.rfind('/');
    return slash != std::string_view::npos &&
           std::find(names.begin(), names.end(), name.substr(0, slash)) != names.end();
  }
};

}  // namespace crochet
