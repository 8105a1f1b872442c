// SPDX-License-Identifier: Apache-2.0
// GuardedSession: the session as a hook sees it that is called on one of several ranks (OnChief, OnRank). Runs that
// exchange with the other ranks do not compile.
#pragma once

#include <type_traits>
#include <utility>

#include <crochet/base/error.hpp>
#include <crochet/hook/run_args.hpp>
#include <crochet/session/raw_session.hpp>

namespace crochet {

namespace detail {

/// What is wrong with a run of a bare request on one rank of several, as a std::type_identity. Requests that are wrong
/// anywhere are RawSession's.
template <class E, class Guard, class... F, class... T, class X>
constexpr auto guarded_run_reason(std::type_identity<RunArgs<Fetches<F...>, Targets<T...>, X>>) {
  if constexpr (!std::is_same_v<side_run_reason<E, RunArgs<Fetches<F...>, Targets<T...>, X>>, error::none>) {
    return std::type_identity<error::none>{};
  } else if constexpr (E::template exchanges<demand_for<E, List<F...>, List<T...>>>) {
    return std::type_identity<error::makes_a_run_of_all_ranks_on_one_rank<typename Guard::decorates, Guard>>{};
  } else {
    return std::type_identity<error::none>{};
  }
}

}  // namespace detail

/// A base class of the session object, one for each guard of the chain, so that a hook may keep a reference to it as
/// long as to the session. `Below`: RawSession, or the next GuardedSession. Guard: OnRank<R, H>.
template <class Below, class Guard>
class GuardedSession : public Below {
  using Raw = RawSession<typename Below::Executor>;

 public:
  using typename Below::Executor;
  using rank_guard = Guard;
  using Below::Below;

  /// As RawSession::run, for demands that do not exchange.
  template <RequestPart... A>
  auto run(A&&... args) {
    using Request = decltype(RunArgs{std::forward<A>(args)...});
    using Reason = typename decltype(detail::guarded_run_reason<Executor, Guard>(std::type_identity<Request>{}))::type;
    static_assert(call_is_usable<Reason>, "crochet: crochet::error says why");
    if constexpr (std::is_same_v<Reason, error::none>) {
      return Raw::run(std::forward<A>(args)...);
    } else {
      return detail::fetch_none<Executor>(typename Request::fetches_type{});
    }
  }

  /// This rank's executor, without what it does together with the others.
  [[nodiscard]] auto& executor() { return static_cast<typename Executor::OfOneRank&>(Raw::executor()); }
  [[nodiscard]] const auto& executor() const {
    return static_cast<const typename Executor::OfOneRank&>(Raw::executor());
  }

  template <class G>
  static constexpr bool has_guard = std::is_same_v<G, Guard> || Below::template has_guard<G>;
  /// The view of the guard G.
  template <class G>
  requires has_guard<G>
  [[nodiscard]] auto& guarded_by() {
    if constexpr (std::is_same_v<G, Guard>) {
      return *this;
    } else {
      return Below::template guarded_by<G>();
    }
  }
};

/// A session on several ranks whose chain has guards: as RawSession for the hooks on every rank, and a view for each
/// guard.
template <class Guarded>
class PlacedSession : public Guarded {
 public:
  using Raw = RawSession<typename Guarded::Executor>;
  using rank_guard = void;
  using Guarded::Guarded;
  using Raw::executor;
  using Raw::run;
};

}  // namespace crochet
