// SPDX-License-Identifier: Apache-2.0
// NanTensor<"loss">: detects NaN and infinite values.
#pragma once

#include <cmath>
#include <concepts>
#include <cstddef>
#include <iterator>
#include <string>
#include <string_view>
#include <type_traits>

#include <crochet/base/config.hpp>
#include <crochet/base/error.hpp>
#include <crochet/base/sink.hpp>
#include <crochet/hook/phase.hpp>
#include <crochet/hook/run_args.hpp>
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
/// - Cost: a test of each element; on a device, waits for the result.
/// - The message names NaN or infinity; for a tensor, which TensorFlow's hook cannot watch, also the number and
///   positions.
/// - TensorFlow detects NaN only. An infinite loss is NaN one step later, when the variables are already damaged.
template <FixedString... Text>
struct NanTensor {
  static_assert(sizeof...(Text) > 0, "crochet: NanTensor needs a name: NanTensor<\"loss\">");
  using handles = Phases<phase::after_run>;
  static constexpr Fetches<Name<Text>...> fetches{};

  bool fail_on_nan = true;
  bool allow_infinity = false;
  Sink sink{};

  void after_run(auto& run, const auto& values) const { (check(run, Text.view(), values[Name<Text>{}]), ...); }

 private:
  template <std::floating_point T>
  [[nodiscard]] bool bad(T value) const {
    return allow_infinity ? std::isnan(value) : !std::isfinite(value);
  }

  template <class T>
  void check(auto& run, std::string_view name, const T& value) const {
    if constexpr (std::floating_point<T>) {
      if (bad(value)) [[unlikely]] {
        report(run, name, " is " + what(value));
      }
    } else if constexpr (!std::is_arithmetic_v<T>) {
      check_elements(run, name, value);
    }
  }

  template <class T>
  void check_elements(auto& run, std::string_view name, const T& values) const {
    if constexpr (std::floating_point<std::remove_cvref_t<decltype(*std::data(values))>>) {
      for (std::size_t i = 0; i < std::size(values); ++i) {
        if (bad(std::data(values)[i])) [[unlikely]] {
          return report(run, name, all_bad(values, i));
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

  CROCHET_COLD void report(auto& run, std::string_view name, const std::string& what) const {
    const std::string text = std::string(name) + what + " at step " + std::to_string(run.step());
    if (fail_on_nan) throw NanLossError("crochet: " + text);
    sink("crochet: " + text + "; stopping");
    run.request_stop(text);
  }
};

}  // namespace crochet
