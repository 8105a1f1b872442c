// SPDX-License-Identifier: Apache-2.0
// The default target of the loops `run` and `train`.
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

/// The RunArgs of a data source's result: feeds or RunArgs, or a std::optional of them. Empty ones for another type.
template <class Given>
constexpr auto given_args() {
  if constexpr (is_optional<Given>) {
    return given_args<typename Given::value_type>();
  } else if constexpr (!RequestPart<Given>) {
    return std::type_identity<RunArgs<>>{};
  } else {
    return std::type_identity<decltype(RunArgs{std::declval<Given>()})>{};
  }
}

/// Whether a data source's result is a request, or a std::optional of one.
template <class Given>
constexpr bool gives_request() {
  if constexpr (is_optional<Given>) {
    return gives_request<typename Given::value_type>();
  } else {
    return RequestPart<Given>;
  }
}

/// A loop without a data source.
struct NoData {
  using args = RunArgs<>;
  using reason = error::none;
};
/// The requests of the data source of a loop, and why the loop cannot use it.
template <class Next>
struct DataSource {
  using args = RunArgs<>;
  using reason = error::this_is_no_data_source<std::remove_reference_t<Next>>;
};
template <class Next>
requires std::is_invocable_v<Next&>
struct DataSource<Next> {
  using Given = std::remove_cvref_t<std::invoke_result_t<Next&>>;
  using args = typename decltype(given_args<Given>())::type;
  using reason =
      std::conditional_t<gives_request<Given>(), error::none, error::the_data_source_returns_no_request<Given>>;
};

template <class Args>
inline constexpr bool runs_something = false;
template <class F, class T, class X>
inline constexpr bool runs_something<RunArgs<F, T, X>> = !std::is_same_v<T, Targets<>>;

/// The target that a loop adds to the requests `Args` of its data source: "train" if the executor has it. Otherwise
/// nothing: the request names its own target, the executor is a step function, or the loop is an error.
template <class E>
constexpr auto main_target() {
  if constexpr (can_run<E, Name<"train">>) {
    return targets<"train">;
  } else {
    return targets<>;
  }
}

/// The error of a loop without a target: a model, or another executor with targets, has no "train", and the data source
/// names no target.
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
