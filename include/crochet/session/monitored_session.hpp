// SPDX-License-Identifier: Apache-2.0
// MonitoredSession: runs an executor under a chain of hooks. Three layers, each with its own header: hooked.hpp (order
// of calls, stop), coordinated.hpp (threads), recoverable.hpp (recovery).
#pragma once

#include <exception>
#include <type_traits>
#include <utility>

#include <crochet/base/config.hpp>
#include <crochet/base/error.hpp>
#include <crochet/hook/chain.hpp>
#include <crochet/hook/run_args.hpp>
#include <crochet/session/check.hpp>
#include <crochet/session/extend.hpp>
#include <crochet/session/hook_bodies.hpp>
#include <crochet/session/hooked.hpp>
#include <crochet/session/judged_run.hpp>
#include <crochet/session/recoverable.hpp>
#include <crochet/session/run_arguments.hpp>
#include <crochet/session/session_core.hpp>
#include <crochet/session/session_creator.hpp>
#include <crochet/session/session_options.hpp>
#include <crochet/session/step_context.hpp>

namespace crochet {

namespace detail {

template <class Exec, class Chain>
using chain_verdict = session_verdict<std::remove_reference_t<Exec>, session_chain<Chain>>;

template <class Given>
concept NoSessionOptions = !std::is_convertible_v<Given, SessionOptions>;

/// How a request is passed to a cold function: by value if it is empty.
template <class Request>
using handed_over = std::conditional_t<std::is_empty_v<Request>, Request, const Request&>;

}  // namespace detail

/// Owns an executor and a chain, and calls the hooks in list order in every phase:
///   constructor   begin (all hooks); then creates the session and calls after_create_session (all hooks)
///   run           before_run (all), the executor once, after_run (all); then latches a requested stop
///   close         end (all hooks, even if one throws), then joins the threads, then closes
/// - A PreemptionError (AbortedError, UnavailableError) of a hook, the executor, the creator or a thread closes the
///   session, recreates it, calls after_create_session again and repeats the call, so a step may run more than once. A
///   line reports each recovery. If a bound of RecoveryOptions is reached (default: 10 consecutive failures), the error
///   propagates.
/// - Any other exception leaves the phase at once and reaches the caller. If it is caught inside the loop, the session
///   remains usable. `run_session` (crochet/session/run_session.hpp) selects end or on_error.
/// - An executor lvalue is borrowed and must outlive the session; a temporary, or the result of `std::move`, is owned.
///   Hooks that extend the graph require an owned executor. The chain is moved or copied into the session. For explicit
///   `Exec` and `Chain`: an lvalue reference is borrowed.
/// - One thread at a time; only the coordinator may be used from other threads.
template <class Exec, class Chain, class Creator = InitializeCreator, class Recovery = Recoverable>
class MonitoredSession : public SessionCore<Exec, Chain, Creator, Recovery> {
  using Extended = std::remove_reference_t<detail::extended_executor<Exec, Chain>>;
  using Bodies = std::bool_constant<detail::bodies_fail<Extended, detail::session_chain<Chain>>>;
  static_assert(sizeof(detail::hook_error<detail::chain_verdict<Extended, Chain>>) > 0);
  using Core = SessionCore<Exec, Chain, Creator, Recovery>;
  using Core::coordinated_;
  using Core::hooked_;

 public:
  using Core::usable;
  using typename Core::Executor;
  using typename Core::HookList;

  /// Throws what a hook's begin or after_create_session, the creator and the executor throw; no other phase is called
  /// then. The session recovers from a PreemptionError of after_create_session, the creator and the executor, not of
  /// begin.
  explicit MonitoredSession(Exec executor, Chain chain = Chain{}, Creator creator = Creator{},
                            SessionOptions options = SessionOptions{})
      : Core(static_cast<Exec&&>(executor), static_cast<Chain&&>(chain), static_cast<Creator&&>(creator), options) {
    if constexpr (detail::is_unusable<Executor>) Executor::Reason::explain();
    static_assert(call_is_usable<typename decltype(detail::creator_reason<Creator, Executor>())::type>,
                  "crochet: crochet::error says why");
    if constexpr (usable) detail::instantiate_state(typename detail::StateBodies<HookList>::Stateful{});
    this->start();
  }
  MonitoredSession(Exec executor, Chain chain, SessionOptions options)
      : MonitoredSession(static_cast<Exec&&>(executor), static_cast<Chain&&>(chain), Creator{}, options) {}
  /// For arguments that are not options: only reports them.
  template <detail::NoSessionOptions Given>
  MonitoredSession(Exec executor, Chain chain, Creator creator, const Given&)
      : Core(static_cast<Exec&&>(executor), static_cast<Chain&&>(chain), static_cast<Creator&&>(creator), {}) {
    static_assert(call_is_usable<error::the_last_argument_of_this_session_is_no_session_options<Given>>,
                  "crochet: crochet::error says why");
  }

  /// One run: `session.run(fetches<"loss">, targets<"train">, feed<"images">(x))`, arguments in any order.
  /// - Returns the fetched values; views among them are valid until the next run.
  /// - Throws LogicError after the session has stopped or closed. Other exceptions of hooks and the executor propagate,
  ///   except a PreemptionError that the session recovers from.
  /// - Cost: the hooks' bodies and the executor's; no allocation, no virtual call.
  template <RequestPart... A>
  CROCHET_HOST_ALWAYS_INLINE auto run(A&&... args) {
    const RunArgs request{std::forward<A>(args)...};
    using Request = std::remove_const_t<decltype(request)>;
    using Judged = detail::JudgedRun<usable, Executor, HookList, Request>;
    static_assert(call_is_usable<typename Judged::reason>, "crochet: crochet::error says why");
    [[maybe_unused]] detail::hook_error<typename Judged::verdict> checked_hooks;
    if constexpr (Judged::good) {
      using Handlers = detail::RunBodies<Executor, Request, HookList>;
      if (false) detail::instantiate_run<typename Handlers::Session, Request>(nullptr, typename Handlers::Handling{});
      if (hooked_.state() != SessionState::running) [[unlikely]] {
        return run_again<detail::handed_over<Request>>(request);
      }
      try {
        return hooked_.run(request);
      } catch (...) {
        return run_failed<detail::handed_over<Request>>(request);
      }
    } else {
      return detail::fetch_none<Executor>(typename Request::fetches_type{});
    }
  }
  /// For an argument that is no part of a request: only reports it.
  template <class... A>
  requires detail::HasOtherArgument<A...>
  auto run(A&&...) { return detail::refused_run<Executor, A...>(); }
  /// One run without hooks: `session.run(no_hooks, fetches<"loss">)`. Does not change the values of the last hooked
  /// run. Permitted after a stop. Throws LogicError if the session is closed or lost, and what the executor throws,
  /// without recovery.
  template <RequestPart... A>
  auto run(NoHooks, A&&... args) {
    if (hooked_.state() > SessionState::stopped) this->refuse();
    return this->raw_session().run(std::forward<A>(args)...);
  }

  /// Calls `step(context)` and returns its result; `context` is a StepContext<...>&. After a PreemptionError the
  /// session is recreated and the function called again, from its start and with the new session. The function chooses
  /// whether its runs call hooks. A stop in an attempt that is repeated takes effect in the first hooked run of the
  /// next attempt, or at its end. Throws LogicError if the session is closed.
  template <class Step>
  auto run_step_fn(Step&& step) {
    using Context = StepContext<MonitoredSession>;
    using Reason = typename decltype(detail::step_function_reason<Step, Context>())::type;
    static_assert(call_is_usable<Reason>, "crochet: crochet::error says why");
    if constexpr (std::is_same_v<Reason, error::none>) {
      if (hooked_.state() > SessionState::stopped) this->refuse();
      const SessionState before = hooked_.state();
      const auto attempt = [&] {
        Context context{*this};
        return step(context);
      };
      try {
        return attempt();
      } catch (const PreemptionError&) {
        return try_again(std::current_exception(), [&] {
          const PostponedStop stop(hooked_, before);
          return attempt();
        });
      }
    }
  }

 private:
  template <class>
  friend class StepContext;

  /// During a repeated attempt at a step function: a session that stopped in an earlier attempt, and was not stopped
  /// before the first, can be run, and is stopped at the end of the attempt.
  class PostponedStop {
   public:
    PostponedStop(HookedLayer<Exec, Chain>& hooked, SessionState before) : hooked_(hooked) {
      stops_ = hooked.state() == SessionState::stopped && before != SessionState::stopped;
      if (stops_) hooked.set_state(before);
    }
    ~PostponedStop() {
      if (stops_ && hooked_.may_run()) hooked_.set_state(SessionState::stopped);
    }
    PostponedStop(const PostponedStop&) = delete;
    PostponedStop& operator=(const PostponedStop&) = delete;

   private:
    HookedLayer<Exec, Chain>& hooked_;
    bool stops_ = false;
  };

  /// Whether the session recovers from an error of a run and repeats the run.
  [[nodiscard]] CROCHET_COLD static bool repeats_after(const std::exception_ptr& cause) {
    return Recovery::recovers && detail::is_preemption(cause);
  }
  /// Repeats a failed attempt until one succeeds. Called while the exception is handled.
  template <class HandedOver>
  CROCHET_COLD auto run_failed(HandedOver request) {
    const std::exception_ptr cause = coordinated_.cause_of(std::current_exception());
    hooked_.failed(repeats_after(cause));
    return try_again(cause, [&] { return attempt(request); });
  }
  template <class Attempt>
  CROCHET_COLD auto try_again(std::exception_ptr error, const Attempt& attempt) {
    for (;;) {
      this->recover(error);
      try {
        return attempt();
      } catch (const PreemptionError&) {
        error = std::current_exception();
      }
    }
  }
  /// One attempt, with the bookkeeping that the fast path omits.
  template <class Request>
  CROCHET_COLD auto attempt(const Request& request) {
    try {
      auto values = hooked_.run(request);
      hooked_.succeeded();
      return values;
    } catch (...) {
      const std::exception_ptr cause = coordinated_.cause_of(std::current_exception());
      hooked_.failed(repeats_after(cause));
      std::rethrow_exception(cause);
    }
  }
  /// A run when the state is not `running`: throws, or makes the next attempt after a failed one.
  template <class HandedOver>
  CROCHET_COLD auto run_again(HandedOver request) {
    if (!hooked_.may_run()) this->refuse();
    try {
      return attempt(request);
    } catch (const PreemptionError&) {
      return try_again(std::current_exception(), [&] { return attempt(request); });
    }
  }

  /// For StepContext: one hooked run without recovery.
  template <RequestPart... A>
  auto run_once(A&&... args) {
    const RunArgs request{std::forward<A>(args)...};
    using Request = std::remove_const_t<decltype(request)>;
    using Judged = detail::JudgedRun<usable, Executor, HookList, Request>;
    static_assert(call_is_usable<typename Judged::reason>, "crochet: crochet::error says why");
    [[maybe_unused]] detail::hook_error<typename Judged::verdict> checked_hooks;
    if constexpr (Judged::good) {
      if (!hooked_.may_run()) this->refuse();
      return attempt(request);
    } else {
      return detail::fetch_none<Executor>(typename Request::fetches_type{});
    }
  }
};
// An executor given by name is borrowed, a temporary is owned.
template <class Exec>
MonitoredSession(Exec&&) -> MonitoredSession<Exec, HookChain<>>;
template <class Exec, class... H>
MonitoredSession(Exec&&, HookChain<H...>) -> MonitoredSession<Exec, HookChain<H...>>;
template <class Exec, class... H>
MonitoredSession(Exec&&, HookChain<H...>, SessionOptions) -> MonitoredSession<Exec, HookChain<H...>>;
template <class Exec, class... H, class Creator>
MonitoredSession(Exec&&, HookChain<H...>, Creator, SessionOptions = {})
    -> MonitoredSession<Exec, HookChain<H...>, Creator>;
template <class Exec, class... H, class Creator, detail::NoSessionOptions Given>
MonitoredSession(Exec&&, HookChain<H...>, Creator, const Given&) -> MonitoredSession<Exec, HookChain<H...>, Creator>;

}  // namespace crochet
