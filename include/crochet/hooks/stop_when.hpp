// SPDX-License-Identifier: Apache-2.0
// StopWhen<"residual">: stops when a value has crossed a bound.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include <crochet/base/config.hpp>
#include <crochet/base/error.hpp>
#include <crochet/hook/phase.hpp>
#include <crochet/hook/run_args.hpp>
#include <crochet/hooks/kit/value_text.hpp>

namespace crochet {

/// Requests a stop when a scalar has crossed a bound: `StopWhen<"residual">{.below = 1e-8}`.
///   Text   -  -      the scalar
///   below  -  unset  at least one of the two, else begin throws LogicError
///   above  -  unset
/// - Fires: after every admitted run whose value is beyond a bound. An equal value is not, and NaN never is (see
///   NanTensor).
/// - Fetches: the scalar, in those runs.
/// - Cost: two comparisons.
template <FixedString Text>
struct StopWhen {
  using handles = Phases<phase::begin, phase::after_run>;
  static constexpr Fetches<Name<Text>> fetches{};

  std::optional<double> below{};
  std::optional<double> above{};

  void begin() const {
    if (!below && !above) {
      throw LogicError("crochet: StopWhen<\"" + std::string(Text.view()) + "\">: set below, above or both");
    }
  }

  void after_run(auto& run, const auto& values) const {
    const auto value = values[Name<Text>{}];
    static_assert(std::is_arithmetic_v<std::remove_const_t<decltype(value)>>, "crochet: StopWhen needs a scalar");
    const auto number = static_cast<double>(value);
    if (below && number < *below) [[unlikely]] {
      run.request_stop(reason(detail::value_text(value), " is below ", *below));
    }
    if (above && number > *above) [[unlikely]] {
      run.request_stop(reason(detail::value_text(value), " is above ", *above));
    }
  }

 private:
  CROCHET_COLD static std::string reason(const std::string& value, std::string_view relation, double bound) {
    return (std::string(Text.view()) + " = " + value).append(relation) + detail::value_text(bound);
  }
};

}  // namespace crochet
