// SPDX-License-Identifier: Apache-2.0
// Checks the hooks of a chain against an executor: each can be called, the names it uses exist, no two feed the same
// placeholder. The verdict names the first bad hook as the only error; errors that follow from it are suppressed.
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

#include <crochet/base/error.hpp>
#include <crochet/hook/chain.hpp>
#include <crochet/hook/diagnose.hpp>
#include <crochet/hook/hook_request.hpp>
#include <crochet/hook/order.hpp>
#include <crochet/hook/pack.hpp>
#include <crochet/hook/run_args.hpp>
#include <crochet/hook/state.hpp>
#include <crochet/hook/state_key.hpp>
#include <crochet/session/demand.hpp>
#include <crochet/session/executor.hpp>
#include <crochet/session/feed_clashes.hpp>
#include <crochet/session/hook_reasons.hpp>
#include <crochet/session/raw_session.hpp>
#include <crochet/session/request_check.hpp>
#include <crochet/session/session_arguments.hpp>
#include <crochet/session/unusable_executor.hpp>

namespace crochet::detail {

/// The verdict if no hook is bad. Otherwise the verdict is the first bad hook.
struct AllHooksOk {
  static constexpr std::size_t position = 0;
  using reason = error::none;
};
template <std::size_t I, class Reason>
struct BadHook {
  static constexpr std::size_t position = I;
  using reason = Reason;
};
template <std::size_t I, class Reason>
constexpr BadHook<I, Reason> bad_hook(std::type_identity<Reason>) {
  return {};
}
template <class T>
inline constexpr bool is_fine = std::is_same_v<T, Ok>;
/// The reason at position I of a pack of reasons; AllHooksOk if I is past the end.
template <std::size_t I, class... Reason>
constexpr auto bad_hook_at() {
  if constexpr (I < sizeof...(Reason)) {
    return bad_hook<I>(type_at<I, Reason...>{});
  } else {
    return AllHooksOk{};
  }
}
/// The first hook with a fault.
template <class... Reason>
using first_bad_hook = decltype(bad_hook_at<first_of({!is_fine<Reason>...}), Reason...>());

/// The first hook with a fault in its order.
template <class... H, std::size_t... I>
constexpr auto order_verdict([[maybe_unused]] List<H...> hooks, [[maybe_unused]] std::index_sequence<I...> positions) {
  if constexpr (has_order<H...>) {
    return first_bad_hook<decltype(order_reason_among<I, H>(positions, hooks))...>{};
  } else {
    return AllHooksOk{};
  }
}

/// A hook that saves the chain's state and precedes a hook with state. Otherwise, if the chain's state is saved: the
/// first hook with the state key of another.
template <class... H>
constexpr auto state_key_verdict() {
  constexpr StateOrder order = state_order<H...>;
  if constexpr (order.stateful > order.saver) {
    using Reason = error::saves_the_state_of_a_hook_that_is_listed_behind_it<type_at<order.saver, H...>,
                                                                             type_at<order.stateful, H...>>;
    return bad_hook<order.saver>(std::type_identity<Reason>{});
  } else if constexpr (any({saves_hook_state<H>()...}) && clash_of_state_keys<H...>.second != 0) {
    return bad_hook<clash_of_state_keys<H...>.second>(state_key_reason<H...>());
  } else {
    return AllHooksOk{};
  }
}

/// True if the body of a before_run does not compile. The compiler reports its own error with the instantiation path. A
/// session therefore evaluates this first, close to the user's line.
template <class E, class Chain>
inline constexpr bool bodies_fail = false;
template <Executor E, class... H>
inline constexpr bool bodies_fail<E, HookChain<H...>> =
    any({before_run_fails<typename Innermost<H>::type,
                          List<typename SessionArguments<E>::template Context<typename Innermost<H>::type>>>...});

template <class E, class Chain, class Indices>
struct SessionVerdict;
template <class E, class... H, std::size_t... I>
struct SessionVerdict<E, HookChain<H...>, std::index_sequence<I...>> {
  static constexpr auto verdict() {
    static_cast<void>(bodies_fail<E, HookChain<H...>>);
    using Order = decltype(order_verdict(List<H...>{}, std::index_sequence<I...>{}));
    if constexpr (!std::is_same_v<Order, AllHooksOk>) {
      return Order{};
    } else {
      using Members = first_bad_hook<decltype(hook_reason<E, H>())...>;
      if constexpr (!std::is_same_v<Members, AllHooksOk>) {
        return Members{};
      } else {
        return state_key_verdict<H...>();
      }
    }
  }
  using type = decltype(verdict());
};
/// The verdict on a chain before any run: AllHooksOk or the first BadHook.
template <class E, class Chain>
struct ChainVerdict {
  using type = typename SessionVerdict<E, Chain, std::make_index_sequence<Chain::size>>::type;
};
template <class Why, class Chain>
struct ChainVerdict<UnusableExecutor<Why>, Chain> {
  using type = AllHooksOk;  // another error is reported
};
template <class E, class Chain>
using session_verdict = typename ChainVerdict<E, Chain>::type;

template <class E, class Chain, class Args, class AllRequests>
class RunVerdict;
template <class E, class... H, class Args, std::size_t... I, class... Requested>
class RunVerdict<E, HookChain<H...>, Args, HookRequests<std::index_sequence<I...>, Requested...>> {
  /// The feeds of the hook at position J.
  template <std::size_t J, class G, class A>
  struct FedBy {
    using type = decltype(feeds_of<J, G>(std::type_identity<typename A::args_type>{}));
  };
  template <class... F>
  static auto all_fed(List<F...>) -> decltype((List<>{} + ... + typename F::type{}));
  using Feeding = Where<!std::is_same_v<typename Requested::args_type::feeds_type, Feeds<>>...>;
  using Fed = decltype(all_fed(filtered<Feeding, FedBy<I, H, Requested>...>{}));

  template <std::size_t J, class G>
  static Ok reason(std::type_identity<HookRequest<RunArgs<>, false>>);  // most hooks have an empty request
  template <std::size_t J, class G, class A>
  static constexpr auto reason(std::type_identity<A>) {
    using Request = std::type_identity<typename A::args_type>;
    using Mine = decltype(feeds_of<J, G>(Request{}));
    return first_reason(request_reason<E, G>(Request{}), clash_reason(Fed{}, Mine{}),
                        caller_clash_reason<Args, J, G>(Mine{}));
  }

 public:
  using type = first_bad_hook<decltype(reason<I, H>(std::type_identity<Requested>{}))...>;
};
/// The requests of a chain's hooks in a run of the request Args: a HookRequests type.
template <class E, class Chain, class Args>
using requests_of = decltype(std::declval<Chain&>().request(std::declval<RunState<RawSession<E>, Args>&>()));
template <bool Judge, class E, class Chain, class Args>
constexpr auto judge_run() {
  if constexpr (Judge) {
    return typename RunVerdict<E, Chain, Args, requests_of<E, Chain, Args>>::type{};
  } else {
    return AllHooksOk{};
  }
}
/// The verdict on one kind of run: the hooks' requests may depend on the caller's. AllHooksOk after another error.
template <bool Judge, class E, class Chain, class Args>
using run_verdict = decltype(judge_run<Judge, E, Chain, Args>());

/// The only error of a verdict. Instantiate it (create an object or inherit from it) as close to the user's line as
/// possible: compilers print every step between.
template <class Verdict>
using hook_error = hook_is_usable<Verdict::position, typename Verdict::reason>;
template <class Verdict>
inline constexpr bool all_hooks_ok = std::is_same_v<Verdict, AllHooksOk>;

}  // namespace crochet::detail
