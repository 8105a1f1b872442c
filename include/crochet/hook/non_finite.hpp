// SPDX-License-Identifier: Apache-2.0
// NonFinite: what an executor reports about a value that it watches for NaN and infinity.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <type_traits>

namespace crochet {

/// What an executor does about a watched value.
struct FiniteRule {
  bool allow_infinity = false;  ///< only NaN counts
  /// From the failing run on, variables cannot be read for a checkpoint: that throws NanLossError.
  bool fails = true;
};

/// The first run whose value was not finite.
template <class Value>
struct NonFinite {
  Value value;                       ///< of that run; a view is valid until the next report of its name
  std::optional<std::int64_t> step;  ///< the global step after that run, if the executor counts it
  std::int64_t runs_ago = 0;         ///< the runs that were requested since
};

namespace detail {

/// Whether a number, or every element of a tensor, obeys the rule. Integers are finite.
template <class T>
bool obeys(const T& value, bool allow_infinity) {
  if constexpr (std::is_floating_point_v<T>) {
    return value == value && (allow_infinity || value - value == T(0));  // without <cmath>, which is large
  } else if constexpr (!std::is_arithmetic_v<T>) {
    for (std::size_t i = 0; i < std::size(value); ++i) {
      if (!obeys(std::data(value)[i], allow_infinity)) return false;
    }
  }
  return true;
}

}  // namespace detail

}  // namespace crochet
