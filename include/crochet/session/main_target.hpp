// SPDX-License-Identifier: Apache-2.0
// What a loop that is given no targets runs: `run`, `train`.
#pragma once

#include <optional>
#include <type_traits>
#include <utility>

#include <crochet/base/error.hpp>
#include <crochet/base/name.hpp>
#include <crochet/hook/run_args.hpp>
#include <crochet/session/executor.hpp>
#include <crochet/session/unusable_executor.hpp>

namespace crochet::detail {

template <class T>
inline constexpr bool is_optional = false;
template <class T>
inline constexpr bool is_optional<std::optional<T>> = true;

/// The RunArgs of what a data source returns: feeds or RunArgs, or a std::optional of them.
template <class Given>
constexpr auto given_args() {
  if constexpr (is_optional<Given>) {
    return given_args<typename Given::value_type>();
  } else {
    return std::type_identity<decltype(RunArgs{std::declval<Given>()})>{};
  }
}

template <class Args>
inline constexpr bool runs_something = false;
template <class F, class T, class X>
inline constexpr bool runs_something<RunArgs<F, T, X>> = !std::is_same_v<T, Targets<>>;

/// What a loop adds to the requests `Args` of its data source: the target "train" of an executor that has one; else
/// nothing: the request names a target of its own, or the executor is a step function, or the loop is an error.
template <class E>
constexpr auto main_target() {
  if constexpr (can_run<E, Name<"train">>) {
    return targets<"train">;
  } else {
    return targets<>;
  }
}

/// Why a loop has nothing to run: a model, or any other executor with targets, has no "train", and the data source
/// names no target either.
template <class E, class Args>
constexpr auto main_target_reason() {
  using Train = Name<"train">;
  if constexpr (is_unusable<E> || can_run<E, Train> || runs_something<Args> ||
                (!NeedsTarget<E> && std::size(E::targets) == 0)) {
    return std::type_identity<error::none>{};
  } else {
    return std::type_identity<error::runs_a_target_that_is_not_in_the_graph<error::the_training_loop, spelt<Train>,
                                                                            hint<Train, E::targets>>>{};
  }
}

}  // namespace crochet::detail
