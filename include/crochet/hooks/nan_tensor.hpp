// SPDX-License-Identifier: Apache-2.0
// NanTensor<"loss">: detects NaN and infinite values.
#pragma once

#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <type_traits>

#include <crochet/base/bfloat16.hpp>
#include <crochet/base/config.hpp>
#include <crochet/base/error.hpp>
#include <crochet/base/sink.hpp>
#include <crochet/hook/phase.hpp>
#include <crochet/hook/run_args.hpp>
#include <crochet/hook/value_rules.hpp>
#include <crochet/hooks/kit/find_violation.hpp>
#include <crochet/hooks/kit/value_text.hpp>

namespace crochet {

/// Detects NaN and infinite values: `NanTensor<"loss">{}`.
///   Text...         -  -      scalars or tensors; integers are never NaN
///   fail_on_nan     -  true   true: throws NanLossError, so no hook's `end` runs and there is no last checkpoint;
///                             false: warns and requests a stop, so that the session ends cleanly
///   allow_infinity  -  false  accepts infinite values
///   sink            -         standard error
/// - Fires: after every admitted run. For fewer checks, wrap it: `EveryN<100, NanTensor<"loss">>{}`.
/// - Fetches: the values, in those runs.
/// - Cost: a test of each element.
/// - On a GPU the device checks the values, and the host reads one flag a launch. The report then comes in a later run,
///   at most 2 * steps_per_launch behind, or in `end`. It names the step that failed, and the variables are those of
///   that step: runs with hooks behind it are skipped until the report (docs/cuda.md). With fail_on_nan no checkpoint
///   is written from that step on. A decorated hook that reads in some runs only waits in these. In a run whose caller
///   fetches values, which waits in any case, the hook reads the values itself.
/// - On several ranks rank 0 writes the line. For a value of another rank's rows the reason of the stop names it.
/// - The message names NaN or infinity. For a tensor, which TensorFlow's hook cannot watch, it has the numbers of NaN
///   and infinite elements and the index of the first one.
/// - TensorFlow detects NaN only. An infinite loss is NaN one step later, when the variables are already damaged.
template <FixedString... Text>
struct NanTensor {
  static_assert(sizeof...(Text) > 0, "crochet: NanTensor needs a name: NanTensor<\"loss\">");
  using handles = Phases<phase::after_run, phase::end>;
  static constexpr Fetches<Name<Text>...> fetches{};

  bool fail_on_nan = true;
  bool allow_infinity = false;
  Sink sink{};

  void mute() { sink = no_lines; }
  void after_run(auto& run, const auto& values) const { (look(run, Name<Text>{}, values), ...); }
  void end(auto& session) const { (look_at_the_end(session, Name<Text>{}), ...); }

 private:
  [[nodiscard]] FiniteRule rule() const { return {.allow_infinity = allow_infinity, .fails = fail_on_nan}; }

  template <class Run, class N>
  void look(Run& run, N name, const auto& values) const {
    if constexpr (requires { values.violation(name, FiniteRule{}); }) {
      if (const auto found = detail::find_violation(run, name, values, rule())) {
        check(found->value, [&](const std::string& what) {
          stop(run, text(N::view(), what, found->step.value_or(run.step() - found->runs_ago)));
        });
      }
    } else {
      check(values[name], [&](const std::string& what) { stop(run, text(N::view(), what, run.step())); });
    }
  }
  /// At runs that the executor has not reported yet.
  template <class N>
  void look_at_the_end(auto& session, N) const {
    if constexpr (requires { session.executor().template finish_watch<N>(session.hooked_workspace(), FiniteRule{}); }) {
      const auto found = session.executor().template finish_watch<N>(session.hooked_workspace(), rule());
      if (!found) return;
      check(found->value, [&](const std::string& what) {
        fail(text(N::view(), what, found->step.value_or(session.step() - found->runs_ago)), "");
      });
    }
  }

  template <FloatingElement T>
  [[nodiscard]] bool bad(T value) const {
    return allow_infinity ? std::isnan(value) : !std::isfinite(value);
  }
  /// Calls report(what) if the value is bad.
  template <class T, class Report>
  void check(const T& value, const Report& report) const {
    if constexpr (FloatingElement<T>) {
      if (bad(value)) [[unlikely]] {
        report(" is " + what(value));
      }
    } else if constexpr (!NumberElement<T>) {
      check_elements(value, report);
    }
  }
  template <class T, class Report>
  void check_elements(const T& values, const Report& report) const {
    if constexpr (FloatingElement<std::remove_cvref_t<decltype(*std::data(values))>>) {
      for (std::size_t i = 0; i < std::size(values); ++i) {
        if (bad(std::data(values)[i])) [[unlikely]] {
          return report(all_bad(values, i));
        }
      }
    }
  }

  template <class T>
  [[nodiscard]] static std::string what(T value) {
    return std::isnan(value) ? "NaN" : value > 0 ? "infinite" : "negative infinite";
  }
  template <class T>
  [[nodiscard]] CROCHET_COLD static std::string all_bad(const T& values, std::size_t first) {
    std::size_t nan = 0, infinite = 0;
    for (std::size_t i = first; i < std::size(values); ++i) {
      nan += std::isnan(std::data(values)[i]) ? 1 : 0;
      infinite += std::isinf(std::data(values)[i]) ? 1 : 0;
    }
    return " has " + std::to_string(nan) + " NaN and " + std::to_string(infinite) + " infinite of " +
           std::to_string(std::size(values)) + " elements, the first at " + std::to_string(first);
  }

  CROCHET_COLD static std::string text(std::string_view name, const std::string& what, std::int64_t step) {
    return std::string(name) + what + " at step " + std::to_string(step);
  }
  CROCHET_COLD void fail(const std::string& text, std::string_view consequence) const {
    if (fail_on_nan) throw NanLossError("crochet: " + text);
    sink(("crochet: " + text).append(consequence));
  }
  CROCHET_COLD void stop(auto& run, const std::string& text) const {
    fail(text, "; stopping");
    run.request_stop(text);
  }
};

/// NanTensor{"loss"}: the error says that names are template arguments.
template <class... Given>
NanTensor(Given...) -> NanTensor<>;

}  // namespace crochet
