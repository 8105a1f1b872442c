// SPDX-License-Identifier: Apache-2.0
// One run under a chain: before_run of every hook, the selected plan, after_run of every hook. Read this to see the
// cost of a step.
#pragma once

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>

#include <crochet/base/config.hpp>
#include <crochet/hook/chain.hpp>
#include <crochet/hook/due_probes.hpp>
#include <crochet/hook/phase.hpp>
#include <crochet/session/check.hpp>
#include <crochet/session/demand.hpp>
#include <crochet/session/probing.hpp>
#include <crochet/session/raw_session.hpp>
#include <crochet/session/run_context.hpp>
#include <crochet/session/run_values.hpp>
#include <crochet/session/stop.hpp>
#include <crochet/session/together.hpp>

namespace crochet::detail {

/// The source of a feed: the request of hook I.
template <std::size_t I, class N>
struct FeedOf {};

template <class N, class X>
using NameOfFeed = N;
template <std::size_t I, class F, class T, class... N, class... X>
List<FeedOf<I, N>...> feed_list(std::type_identity<RunArgs<F, T, Feeds<Feed<N, X>...>>>);

/// The request of the hook at position I.
template <std::size_t I, class Args>
struct RequestAt {
  static constexpr std::size_t value = I;
  using feeds = decltype(feed_list<I>(std::type_identity<Args>{}));
};
template <class A>
inline constexpr bool feeds_some = !std::is_same_v<typename A::args_type::feeds_type, Feeds<>>;
template <class... R>
constexpr auto all_feeds(List<R...>) {
  return (List<>{} + ... + typename R::feeds{});
}

/// Selects the plan and runs it, with the feeds of the caller and of every hook that is due.
template <class E, class Args, class AllRequests>
class PlannedRun;
template <class E, class Args, std::size_t... I, class... Requested>
class PlannedRun<E, Args, HookRequests<std::index_sequence<I...>, Requested...>> {
  using AllRequests = HookRequests<std::index_sequence<I...>, Requested...>;
  using Plan = Plans<E, Args, Requested...>;
  using Base = typename Plan::Base;
  using All = typename Plan::All;
  using FeedsAlways = decltype(all_feeds(filtered<Where<(feeds_some<Requested> && !Requested::conditional)...>,
                                                  RequestAt<I, typename Requested::args_type>...>{}));
  /// The requests of conditional hooks with feeds.
  using FeedsSometimes = filtered<Where<(feeds_some<Requested> && Requested::conditional)...>,
                                  RequestAt<I, typename Requested::args_type>...>;

 public:
  template <class Raw>
  CROCHET_HOST_ALWAYS_INLINE static void run(Raw& raw, const Args& args, const AllRequests& requests) {
    choose(raw, args, requests, typename Plan::Groups{});
  }

 private:
  template <class Raw>
  CROCHET_HOST_ALWAYS_INLINE static void choose(Raw& raw, const Args& args, const AllRequests& requests, List<>) {
    feed<Base>(raw, args, requests);
  }
  template <class Raw, class... Group>
  requires(sizeof...(Group) > 0) static void choose(Raw& raw, const Args& args, const AllRequests& requests,
                                                    List<Group...>) {
    static_assert(sizeof...(Group) < 64, "crochet: more than 63 hooks request optional names of their own");
    std::uint64_t due = 0;
    [[maybe_unused]] const bool noted[] = {true, (due |= bit<I, Requested>(requests), true)...};
    if constexpr (HasRanks<E>) {
      const std::uint64_t here = due;
      due = due_on_any_rank(raw.executor(), here);
      require_equal_feeds((due ^ here) & bits_of_feeders());
    }
    if (due == 0) {
      feed<Base>(raw, args, requests);
    } else if constexpr (sizeof...(Group) == 1) {
      feed<All>(raw, args, requests);
    } else if ((due & (due - 1)) != 0) {
      feed<All>(raw, args, requests);
    } else {
      std::uint64_t group = 1;
      ((due == group ? feed<Group>(raw, args, requests) : void(), group <<= 1), ...);
    }
  }

  /// The bit of the group of hook J, if the hook is due and belongs to a group.
  template <std::size_t J, class A>
  static constexpr std::uint64_t bit(const AllRequests& requests) {
    constexpr std::size_t group = Plan::template group_of<A>();
    if constexpr (group == 0) {
      return 0;
    } else {
      return request_at<J>(requests).due() ? std::uint64_t{1} << (group - 1) : 0;
    }
  }

  /// The groups of hooks that feed.
  static constexpr std::uint64_t bits_of_feeders() {
    return (std::uint64_t{} | ... |
            (feeds_some<Requested> && Requested::conditional && Plan::template group_of<Requested>() > 0
                 ? std::uint64_t{1} << (Plan::template group_of<Requested>() - 1)
                 : 0));
  }

  template <class D, class Raw>
  CROCHET_HOST_ALWAYS_INLINE static void feed(Raw& raw, const Args& args, const AllRequests& requests) {
    feed_callers<D>(raw, args.feeds, requests, FeedsAlways{});
  }
  template <class D, class Raw, class... N, class... X, std::size_t... J, class... M>
  CROCHET_HOST_ALWAYS_INLINE static void feed_callers(Raw& raw, const Feeds<Feed<N, X>...>& callers,
                                                      const AllRequests& requests, List<FeedOf<J, M>...>) {
    feed_due<D>(FeedsSometimes{}, raw, requests, callers.template get<N>()...,
                request_at<J>(requests).args().feeds.template get<M>()...);
  }
  /// Adds the feeds of the conditional hooks one by one, with a branch for each.
  template <class D, class First, class... Rest, class Raw, class... F>
  static void feed_due(List<First, Rest...>, Raw& raw, const AllRequests& requests, const F&... fed) {
    const auto& request = request_at<First::value>(requests);
    if (request.due()) {
      with_feeds_of(request.args().feeds,
                    [&](const auto&... more) { feed_due<D>(List<Rest...>{}, raw, requests, fed..., more...); });
    } else {
      feed_due<D>(List<Rest...>{}, raw, requests, fed...);
    }
  }
  template <class D, class Raw, class... F>
  CROCHET_HOST_ALWAYS_INLINE static void feed_due(List<>, Raw& raw, const AllRequests&, const F&... fed) {
    raw.template run_hooked<D>(fed...);
  }
  template <class... N, class... X, class Next>
  static void with_feeds_of(const Feeds<Feed<N, X>...>& feeds, Next&& next) {
    next(feeds.template get<N>()...);
  }
};

/// The `finish` of a run of which nothing is fetched.
struct FetchNothing {
  void operator()() const {}
};

/// A run with a due phase log.
template <class Session, class Chain, class Args, class State, class Logs, class Finish>
[[gnu::noinline]] auto logged_run(Session& raw, Chain& chain, const Args& args, State& state, const Logs& logs,
                                  const Finish& finish) {
  using E = typename Session::Executor;
  logs.clear();
  const auto requests = chain.request_logged(logs, state);
  using AllRequests = std::remove_const_t<decltype(requests)>;
  run_as_due<PlannedRun<E, Args, AllRequests>>(raw, args, requests, chain.due_probes(state));
  AllValues<E, State, AllRequests> values{raw.executor(), raw.hooked_workspace(), requests};
  chain.template fire_logged<phase::after_run>(logs, state, values);
  return finish();
}

/// One complete run; its verdict must be good. Session: session_of. After after_run of the last hook it returns
/// `finish()`, which latches `stop` and fetches the values of the caller. The requests of the hooks exist until then,
/// since a fetched placeholder may be a number in one of them.
template <class Session, class Chain, class Args, class Finish = FetchNothing>
CROCHET_HOST_ALWAYS_INLINE auto hooked_run(Session& raw, Chain& chain, StopState& stop, const Args& args,
                                           const Finish& finish = {}) {
  using E = typename Session::Executor;
  RunState<Session, Args> state{raw, args, stop};
  if constexpr (Chain::logs_phases) {
    const auto due = chain.due_phase_logs(state);
    if constexpr (std::tuple_size_v < std::remove_const_t < decltype(due) >>> 0) {
      const DueLogs logs(due);
      if (logs.any()) [[unlikely]] {
        return logged_run(raw, chain, args, state, logs, finish);
      }
    }
  }
  const auto requests = chain.request(state);
  using AllRequests = std::remove_const_t<decltype(requests)>;
  if constexpr (Chain::has_probes) {
    run_as_due<PlannedRun<E, Args, AllRequests>>(raw, args, requests, chain.due_probes(state));
  } else {
    PlannedRun<E, Args, AllRequests>::run(raw, args, requests);
  }
  AllValues<E, decltype(state), AllRequests> values{raw.executor(), raw.hooked_workspace(), requests};
  chain.template fire<phase::after_run>(state, values);
  return finish();
}

}  // namespace crochet::detail
