// SPDX-License-Identifier: Apache-2.0
// The rules that an executor may check a value by on its own, and its report of the first run that violates one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <type_traits>

#include <crochet/base/bfloat16.hpp>

namespace crochet {

/// The value, or every element of it, is a number.
struct FiniteRule {
  bool allow_infinity = false;  ///< only NaN violates it
  /// From the run that violates it on, variables cannot be read for a checkpoint: that throws NanLossError.
  bool fails = true;
};

/// A scalar of floating-point type is within bounds, compared as double. A value that equals a bound is; so is NaN.
struct BoundsRule {
  std::optional<double> lowest{}, highest{};
};

/// The first run whose value violated a rule.
template <class Value>
struct Violation {
  Value value;                       ///< of that run; a view is valid until the next report of its name
  std::optional<std::int64_t> step;  ///< the global step after that run, if the executor counts it
  std::int64_t runs_ago = 0;         ///< the runs that were requested since
};

namespace detail {

/// Whether a number, or every element of a tensor, obeys the rule. Integers are finite.
template <class T>
bool obeys(const T& value, const FiniteRule& rule) {
  if constexpr (std::is_same_v<T, bfloat16>) {
    return obeys(float{value}, rule);
  } else if constexpr (std::is_floating_point_v<T>) {
    return value == value && (rule.allow_infinity || value - value == T(0));  // without <cmath>, which is large
  } else if constexpr (!std::is_arithmetic_v<T>) {
    for (std::size_t i = 0; i < std::size(value); ++i) {
      if (!obeys(std::data(value)[i], rule)) return false;
    }
  }
  return true;
}
template <class T>
requires std::is_arithmetic_v<T>
bool obeys(T value, const BoundsRule& rule) {
  const auto number = static_cast<double>(value);
  return !(rule.lowest && number < *rule.lowest) && !(rule.highest && number > *rule.highest);
}

/// Whether an executor can check values of the type by the rule: bounds are those of a floating-point scalar.
template <class Rule, class Value>
inline constexpr bool rule_fits = std::is_same_v<Rule, FiniteRule> || std::is_floating_point_v<Value>;

}  // namespace detail

}  // namespace crochet
