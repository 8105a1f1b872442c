// SPDX-License-Identifier: Apache-2.0
// SideSession: a session inside another one, on the same executor, with its own hooks: an evaluation, for example.
#pragma once

#include <cstdint>
#include <exception>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include <crochet/base/diagnostics.hpp>
#include <crochet/base/error.hpp>
#include <crochet/base/nested_errors.hpp>
#include <crochet/base/sleep_clock.hpp>
#include <crochet/hook/epochs.hpp>
#include <crochet/hook/phase.hpp>
#include <crochet/hook/run_args.hpp>
#include <crochet/session/check.hpp>
#include <crochet/session/coordinated.hpp>
#include <crochet/session/coordinator.hpp>
#include <crochet/session/demand.hpp>
#include <crochet/session/executor.hpp>
#include <crochet/session/hooked_run.hpp>
#include <crochet/session/judged_run.hpp>
#include <crochet/session/raw_session.hpp>
#include <crochet/session/session_options.hpp>
#include <crochet/session/stop.hpp>
#include <crochet/session/together.hpp>

namespace crochet {

namespace detail {

/// The reason of an error for a run under the chain of a side session that one of several ranks has, as a
/// std::type_identity: it exchanges. Guard: of the hook that has the side session; void: none.
template <class E, class Guard, class Args, class Indices, class... Requested>
constexpr auto guarded_side_run_reason(std::type_identity<HookRequests<Indices, Requested...>>) {
  if constexpr (std::is_void_v<Guard>) {
    return std::type_identity<error::none>{};
  } else if constexpr (E::template exchanges<typename Plans<E, Args, Requested...>::All>) {
    return std::type_identity<error::makes_a_run_of_all_ranks_on_one_rank<typename Guard::decorates, Guard>>{};
  } else {
    return std::type_identity<error::none>{};
  }
}

}  // namespace detail

/// Shares the main session's executor and its variables. Has its own memory, which it reuses. The executor must outlive
/// it. One thread at a time, together with the main session. Guard: as in detail::guarded_side_run_reason.
template <class E, class Guard = void>
class SideSession {
 public:
  explicit SideSession(RawSession<E>& main) : executor_(&main.executor()) {}

  /// Whether this is a side session of `main`.
  [[nodiscard]] bool belongs_to(RawSession<E>& main) const { return executor_ == &main.executor(); }

  /// The argument of `body`: runs under the hooks, until one of them requests a stop.
  template <class Chain>
  class Runs {
   public:
    Runs(RawSession<E>& raw, Chain& hooks) : raw_(raw), hooks_(hooks) {}

    /// As MonitoredSession::run; `feeds` is a Feed, Feeds or RunArgs.
    template <RequestPart... A>
    auto run(A&&... args) {
      const RunArgs request{std::forward<A>(args)...};
      using Request = std::remove_const_t<decltype(request)>;
      using Judged = detail::JudgedRun<true, E, Chain, Request>;
      static_assert(call_is_usable<typename Judged::reason>, "crochet: crochet::error says why");
      [[maybe_unused]] detail::hook_error<typename Judged::verdict> checked_hooks;
      if constexpr (Judged::good && !std::is_void_v<Guard>) {
        using Requests = std::type_identity<detail::requests_of<E, Chain, Request>>;
        using Reason = typename decltype(detail::guarded_side_run_reason<E, Guard, Request>(Requests{}))::type;
        static_assert(call_is_usable<Reason>, "crochet: crochet::error says why");
      }
      if constexpr (Judged::good) {
        return detail::hooked_run(raw_, hooks_, stop_, request, [&] {
          return detail::fetch_all(raw_.executor(), raw_.hooked_workspace(), typename Request::fetches_type{});
        });
      } else {
        return detail::fetch_none<E>(typename Request::fetches_type{});
      }
    }
    /// RawSession::weight_of_batch of the last run.
    [[nodiscard]] double weight_of_batch(double own) const { return raw_.weight_of_batch(own); }
    /// Whether a hook or a thread of this session requested a stop. A signal ends the main session after its run, of
    /// which this session is a part: the result of half a pass would be another one.
    [[nodiscard]] bool should_stop() const { return stop_.requested() || coordinated_.coordinator().stop_requested(); }
    [[nodiscard]] Coordinator& coordinator() { return coordinated_.coordinator(); }
    /// Stops and joins the threads. Returns the error that one has reported, or null.
    [[nodiscard]] std::exception_ptr close() { return coordinated_.close(); }

   private:
    RawSession<E>& raw_;
    Chain& hooks_;
    StopState stop_;
    CoordinatedLayer coordinated_{SessionOptions{}.stop_grace_period_secs, SleepClock{}};
  };

  /// One complete session: every hook's begin and after_create_session, the runs of `body(runs)`, end. Then joins its
  /// threads and throws an error reported to its coordinator. An OutOfRangeError or StopIteration ends the body
  /// normally. Any other exception propagates after every on_error. An OutOfRangeError of begin, after_create_session
  /// or end of a hook, or of a thread, is thrown as a LogicError: it would end the loop of the main session. `step` is
  /// the initial step for an executor without its own count. `epochs`: the data whose epochs are counted, unless a hook
  /// of the chain has its own. On several ranks the hooks have to be in their places (hook/placed_chain.hpp).
  template <class Chain, class Body>
  void drive(Chain& hooks, std::int64_t step, Body body, EpochSource epochs = {}) {
    using Verdict = detail::session_verdict<E, Chain>;
    [[maybe_unused]] detail::hook_error<Verdict> checked;
    constexpr bool alone = !std::is_void_v<Guard>;
    static_assert(alone || !detail::has_hooks_to_place<E, Chain>,
                  "crochet: on several ranks write OnChief<H> for the hooks of a nested chain that run on rank 0");
    if constexpr (detail::all_hooks_ok<Verdict>) {
      RawSession<E>& raw = session_at(step);
      const EpochSource own = detail::epoch_source_of(hooks);
      raw.count_epochs_of(own ? own : epochs);
      Runs<Chain> runs{raw, hooks};
      detail::join_ranks(raw.executor(), hooks, alone);
      without_end_of_data([&] {
        hooks.template fire<phase::begin>();
        hooks.template fire<phase::after_create_session>(raw, runs.coordinator());
      });
      run_body(hooks, body, runs);
      detail::NestedErrors errors;
      hooks.template fire_guarded<phase::end>(errors, raw);
      if (const std::exception_ptr reported = runs.close()) errors(reported);
      without_end_of_data([&] { errors.rethrow_first(); });
    }
  }

 private:
  template <class Work>
  static void without_end_of_data(const Work& work) {
    try {
      work();
    } catch (const OutOfRangeError& end) {
      throw no_end_of_data(end);
    }
  }
  [[nodiscard]] static LogicError no_end_of_data(const OutOfRangeError& end) {
    LogicError error(
        "crochet: a hook of a nested session has thrown an OutOfRangeError in begin, after_create_session or end, or "
        "a thread of it has reported one, where no data end; catch it there: " +
        std::string(end.what()));
    if (end.nested()) error.nest(end.nested());
    return error;
  }
  template <class Chain, class Body>
  static void run_body(Chain& hooks, Body& body, Runs<Chain>& runs) {
    try {
      body(runs);
    } catch (const OutOfRangeError&) {
    } catch (const StopIteration&) {
    } catch (...) {
      std::exception_ptr error = std::current_exception();
      auto report = [](const std::exception_ptr& thrown) {
        diagnose("crochet: on_error of a hook threw: " + detail::what_of(thrown));
      };
      hooks.template fire_guarded<phase::on_error>(report, error);
      const std::exception_ptr reported = runs.close();
      if (reported && reported != error) detail::nest_in(error, reported);
      throw;
    }
  }
  RawSession<E>& session_at(std::int64_t step) {
    if (!raw_ || !detail::CountsSteps<E>) raw_.emplace(*executor_, step);
    return *raw_;
  }

  E* executor_;
  std::optional<RawSession<E>> raw_;
};

namespace detail {

template <class Session>
struct SideSessionOf {
  using type = SideSession<typename Session::Executor>;
};
template <class Session>
requires requires { typename Session::rank_guard; }
struct SideSessionOf<Session> {
  using type = SideSession<typename Session::Executor, typename Session::rank_guard>;
};
template <class Session>
using side_session_of = typename SideSessionOf<std::remove_cvref_t<Session>>::type;

}  // namespace detail

}  // namespace crochet
