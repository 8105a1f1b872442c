// SPDX-License-Identifier: Apache-2.0
// UnusableExecutor: the type of an executor that cannot exist. A program with one has exactly one error.
#pragma once

#include <array>
#include <span>
#include <string_view>
#include <type_traits>

#include <crochet/base/error.hpp>

namespace crochet {

/// For an executor whose error has already been reported.
struct IsReported {
  static constexpr void explain() {}
};

/// Replaces an executor whose model, or whose session argument, is wrong. Sessions neither check nor call hooks,
/// requests and creators with it. `Why` reports the error in its `explain()`, which a session's constructor
/// instantiates.
template <class Why = IsReported>
struct UnusableExecutor {
  using Reason = Why;
  struct Workspace {};
  static constexpr std::array<std::string_view, 0> fetchable{}, feedable{}, targets{};
  template <class...>
  using extended_by = UnusableExecutor;

  UnusableExecutor() = default;
  /// Constructs from the executor that cannot be used.
  template <class E>
  // NOLINTNEXTLINE(bugprone-forwarding-reference-overload): the constraint excludes copies
  requires(!std::is_same_v<std::remove_cvref_t<E>, UnusableExecutor>) explicit UnusableExecutor(E&&) {}

  // Members that programs call directly, outside a session.
  void initialize() {}
  template <class N>
  std::span<float> variable(N) {
    return {};
  }
};

namespace detail {

template <class E>
inline constexpr bool is_unusable = false;
template <class Why>
inline constexpr bool is_unusable<UnusableExecutor<Why>> = true;

}  // namespace detail

}  // namespace crochet
