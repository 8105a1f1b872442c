// SPDX-License-Identifier: Apache-2.0
// Checks one request, a hook's or a caller's, against an executor: the names exist and the fed types fit.
#pragma once

#include <iterator>
#include <type_traits>

#include <crochet/base/error.hpp>
#include <crochet/hook/diagnose.hpp>
#include <crochet/hook/run_args.hpp>
#include <crochet/session/executor.hpp>
#include <crochet/session/unusable_executor.hpp>

namespace crochet::detail {

template <class E, class H, class N>
constexpr auto fetch_reason() {
  if constexpr (can_fetch<E, N>) {
    return Ok{};
  } else {
    return std::type_identity<error::fetches_a_name_that_is_not_in_the_graph<H, spelt<N>, hint<N, E::fetchable>>>{};
  }
}
template <class E, class H, class N>
constexpr auto target_reason() {
  if constexpr (can_run<E, N>) {
    return Ok{};
  } else {
    return std::type_identity<error::runs_a_target_that_is_not_in_the_graph<H, spelt<N>, hint<N, E::targets>>>{};
  }
}
/// The elements of a value that is fed: those of an array, on the host or a device, or the value.
template <class X>
constexpr auto elements_of() {
  constexpr bool is_array = requires { X::rank; }
  || requires(const X& x) { std::data(x); };
  if constexpr (is_array && requires { typename X::value_type; }) {
    return std::type_identity<std::remove_const_t<typename X::value_type>>{};
  } else {
    return std::type_identity<X>{};
  }
}
template <class E, class N, class X>
inline constexpr bool only_rank_differs = requires {
  E::template fed_rank<N>;
  requires std::is_same_v<typename decltype(elements_of<X>())::type, typename E::template fed_t<N>>;
};
template <class E, class H, class N, class X>
constexpr auto feed_reason() {
  if constexpr (!can_feed<E, N>) {
    return std::type_identity<error::feeds_a_name_that_is_not_a_placeholder<H, spelt<N>, hint<N, E::feedable>>>{};
  } else if constexpr (E::template accepts_feed<N, X>) {
    return Ok{};
  } else if constexpr (only_rank_differs<E, N, X>) {
    return std::type_identity<error::feeds_a_value_of_the_wrong_rank<
        H, spelt<N>, error::given<X>, error::wanted<error::rank<E::template fed_rank<N>>>>>{};
  } else {
    return std::type_identity<error::feeds_a_value_of_the_wrong_type<H, spelt<N>, error::given<X>,
                                                                     error::wanted<typename E::template fed_t<N>>>>{};
  }
}
template <class H, class N, class... Earlier>
constexpr auto twice_reason(List<Earlier...>) {
  if constexpr ((std::is_same_v<N, Earlier> || ...)) {
    return std::type_identity<error::feeds_the_same_name_twice<H, spelt<N>>>{};
  } else {
    return Ok{};
  }
}
template <class H, class ArgumentView>
constexpr auto any_twice(ArgumentView, List<>) {
  return Ok{};
}
template <class H, class... ArgumentView, class N, class... Rest>
constexpr auto any_twice(List<ArgumentView...> seen, List<N, Rest...>) {
  return first_reason(twice_reason<H, N>(seen), any_twice<H>(List<ArgumentView..., N>{}, List<Rest...>{}));
}

/// The fault in a request of H (a hook or the_caller).
template <class E, class H, class... F, class... T, class... N, class... X>
constexpr auto request_reason(std::type_identity<RunArgs<Fetches<F...>, Targets<T...>, Feeds<Feed<N, X>...>>>) {
  return first_reason(fetch_reason<E, H, F>()..., target_reason<E, H, T>()..., feed_reason<E, H, N, X>()...,
                      any_twice<H>(List<>{}, List<N...>{}));
}

/// A hint for a call without a target: the target that was probably meant.
template <class E>
constexpr auto train_hint_of() {
  if constexpr (can_run<E, Name<"train">>) {
    return std::type_identity<error::did_you_mean<spelt<Name<"train">>>>{};
  } else {
    return std::type_identity<hint<Name<"train">, E::targets>>{};
  }
}
template <class E>
using train_hint = typename decltype(train_hint_of<E>())::type;

/// The names that a request feeds.
template <class F, class T, class... N, class... X>
constexpr List<N...> fed_names(std::type_identity<RunArgs<F, T, Feeds<Feed<N, X>...>>>) {
  return {};
}
/// The missing feed of a run of the demand D when the names of the List are fed.
template <class E, class D, class... N>
constexpr auto unfed_reason(List<N...>) {
  if constexpr (ChecksFeeds<E>) {
    return E::template feeds_reason<D>(Names<N...>{});
  } else {
    return Ok{};
  }
}

/// The fault in a call of run, apart from the hooks. None for an executor that cannot be used.
template <class E, class Args>
struct CallReason {
  using type = typename decltype(request_reason<E, error::the_caller>(std::type_identity<Args>{}))::type;
};
template <class Why, class Args>
struct CallReason<UnusableExecutor<Why>, Args> {
  using type = error::none;
};
template <class E, class Args>
using call_reason = typename CallReason<E, Args>::type;
template <class E, class Args>
inline constexpr bool good_call = std::is_same_v<call_reason<E, Args>, error::none> && !is_unusable<E>;

}  // namespace crochet::detail
