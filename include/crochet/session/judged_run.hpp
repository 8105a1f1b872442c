// SPDX-License-Identifier: Apache-2.0
// All compile-time checks of one kind of run: the caller's request, the hooks' requests, and names that both together
// lack. Each session checks a run at the user's call, so that the error is next to the user's line.
#pragma once

#include <type_traits>

#include <crochet/base/error.hpp>
#include <crochet/hook/diagnose.hpp>
#include <crochet/hook/pack.hpp>
#include <crochet/hook/run_args.hpp>
#include <crochet/session/check.hpp>
#include <crochet/session/demand.hpp>
#include <crochet/session/executor.hpp>
#include <crochet/session/request_check.hpp>

namespace crochet::detail {

/// The demands that a run of these plans can have.
template <class Base, class All>
constexpr auto demands_of(List<>) {
  return List<Base>{};
}
template <class Base, class All, class One>
constexpr auto demands_of(List<One>) {
  return List<Base, All>{};
}
template <class Base, class All, class... Group>
constexpr auto demands_of(List<Group...>) {
  return List<Base, Group..., All>{};
}

/// Whether a request contains no names.
template <class F, class T, class X>
constexpr bool names_nothing(std::type_identity<RunArgs<F, T, X>>) {
  return std::is_same_v<F, Fetches<>> && std::is_same_v<T, Targets<>>;
}
template <class F, class T, class X>
constexpr bool names_a_target(std::type_identity<RunArgs<F, T, X>>) {
  return !std::is_same_v<T, Targets<>>;
}

template <class Requested>
inline constexpr bool always_feeds =
    !Requested::conditional && !std::is_same_v<typename Requested::args_type::feeds_type, Feeds<>>;

/// The missing part of a run: a target, or a feed.
template <class E, class Args, class AllRequests>
class Lacking;
template <class E, class Args, class... Requested, class Indices>
class Lacking<E, Args, HookRequests<Indices, Requested...>> {
  template <class... Fixed>
  static auto fed_always(List<Fixed...>) {
    return (fed_names(std::type_identity<Args>{}) + ... + fed_names(std::type_identity<Fixed>{}));
  }
  template <class... D, class Fed>
  static constexpr auto unfed(List<D...>, Fed) {
    return first_reason(Ok{}, unfed_reason<E, D>(Fed{})...);
  }

  static constexpr auto find() {
    constexpr bool hooks_name_a_target =
        any({false, names_a_target(std::type_identity<typename Requested::args_type>{})...});
    if constexpr (NeedsTarget<E> && names_nothing(std::type_identity<Args>{}) && !hooks_name_a_target) {
      return std::type_identity<error::names_no_target_and_fetches_nothing<error::the_caller, train_hint<E>>>{};
    } else if constexpr (ChecksFeeds<E>) {
      using P = Plans<E, Args, Requested...>;
      using Fed = decltype(fed_always(filtered<Where<always_feeds<Requested>...>, typename Requested::args_type...>{}));
      return unfed(demands_of<typename P::Base, typename P::All>(typename P::Groups{}), Fed{});
    } else {
      return Ok{};
    }
  }

 public:
  using reason = typename decltype(find())::type;
};

/// The verdict on runs of the request Args under Chain. `Judge`: true if no other error has been reported.
template <bool Judge, class E, class Chain, class Args>
struct JudgedRun {
 private:
  static constexpr bool good_request = Judge && good_call<E, Args>;
  static constexpr auto lacks() {
    if constexpr (!std::is_same_v<call_reason<E, Args>, error::none>) {
      return std::type_identity<call_reason<E, Args>>{};
    } else if constexpr (good_request && all_hooks_ok<run_verdict<good_request, E, Chain, Args>>) {
      return std::type_identity<typename Lacking<E, Args, requests_of<E, Chain, Args>>::reason>{};
    } else {
      return Ok{};
    }
  }

 public:
  /// The verdict on the hooks in such a run: AllHooksOk or the first BadHook.
  using verdict = run_verdict<good_request, E, Chain, Args>;
  /// The fault in the call: a crochet::error.
  using reason = typename decltype(lacks())::type;
  static constexpr bool good = good_request && all_hooks_ok<verdict> && std::is_same_v<reason, error::none>;
};

}  // namespace crochet::detail
