// SPDX-License-Identifier: Apache-2.0
// Conditions for dumping a captured run, evaluated after the run on fetched values.
#pragma once

#include <cmath>
#include <concepts>
#include <cstddef>
#include <iterator>
#include <type_traits>
#include <utility>

#include <crochet/base/bfloat16.hpp>
#include <crochet/base/name.hpp>
#include <crochet/hook/run_args.hpp>

namespace crochet::debug {

/// Dumps every run, while it runs.
struct Always {
  static constexpr Fetches<> fetches{};
};

/// Has a static member `fetches` with the names of the values that it reads.
template <class T>
concept DumpCondition = requires {
  T::fetches;
};

namespace detail {
template <class T>
bool all_finite(const T& value) {
  if constexpr (FloatingElement<T>) {
    return std::isfinite(value);
  } else if constexpr (std::is_arithmetic_v<T>) {
    return true;
  } else {
    bool finite = true;
    for (std::size_t i = 0; i < std::size(value); ++i) finite = finite && all_finite(std::data(value)[i]);
    return finite;
  }
}
}  // namespace detail

/// Selects runs in which one of the values, a scalar or a tensor, is NaN or infinite.
template <FixedString... Text>
struct WhenNotFinite {
  static constexpr Fetches<Name<Text>...> fetches{};
  [[nodiscard]] bool operator()(const auto& values) const { return !(detail::all_finite(values[Name<Text>{}]) && ...); }
};
/// `DumpingDebugHook{root, when_not_finite<"loss">}`.
template <FixedString... Text>
inline constexpr WhenNotFinite<Text...> when_not_finite{};

/// Selects runs for whose values the predicate returns true.
template <class F, FixedString... Text>
struct WhenValues {
  static constexpr Fetches<Name<Text>...> fetches{};
  F predicate;
  [[nodiscard]] bool operator()(const auto& values) const { return predicate(values[Name<Text>{}]...); }
};
/// `DumpingDebugHook{root, when<"loss">([](float loss) { return loss > 10; })}`.
template <FixedString... Text, class F>
WhenValues<F, Text...> when(F predicate) {
  return {std::move(predicate)};
}

}  // namespace crochet::debug
