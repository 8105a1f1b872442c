// SPDX-License-Identifier: Apache-2.0
// MonitoredSession: an executor driven under a chain of hooks. Put together from three layers, each with a header of
// its own: hooked.hpp (order of calls, stop), coordinated.hpp (threads), recoverable.hpp (trying again).
#pragma once

#include <cstdint>
#include <exception>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <crochet/config.hpp>
#include <crochet/error.hpp>
#include <crochet/hook/chain.hpp>
#include <crochet/hook/phase.hpp>
#include <crochet/hook/run_args.hpp>
#include <crochet/session/check.hpp>
#include <crochet/session/coordinated.hpp>
#include <crochet/session/diagnostics.hpp>
#include <crochet/session/hooked.hpp>
#include <crochet/session/nested_errors.hpp>
#include <crochet/session/recoverable.hpp>
#include <crochet/session/session_creator.hpp>
#include <crochet/session/session_options.hpp>
#include <crochet/session/signal_flag.hpp>
#include <crochet/session/step_context.hpp>

namespace crochet {

namespace detail {

template <class Exec, class Chain>
using chain_verdict = session_verdict<std::remove_reference_t<Exec>, std::remove_reference_t<Chain>>;

/// A request goes into a cold function by value if that costs nothing.
template <class Request>
using handed_over = std::conditional_t<std::is_empty_v<Request>, Request, const Request&>;

}  // namespace detail

/// Owns an executor and a chain, and calls the hooks in list order in every phase:
///   constructor   begin (all hooks); then the session is created and after_create_session (all hooks) called
///   run           before_run (all), the executor once, after_run (all); then a requested stop is latched
///   close         end (all hooks, even if one throws), then threads are joined, then closed
/// A PreemptionError (AbortedError, UnavailableError) of a hook, the executor, the creator or a thread closes what
/// there is of the session, creates it anew, calls after_create_session again and repeats the call: at least once,
/// never silently. Any other exception leaves the phase at once and reaches the caller; caught inside the loop, the
/// session stays usable. `run_session` (crochet/session/run_session.hpp) decides between end and on_error. `Exec` and
/// `Chain` may be lvalue references: then the session borrows the caller's object. One thread at a time; only the
/// coordinator may be used from others.
template <class Exec, class Chain, class Creator = InitializeCreator, class Recovery = Recoverable>
class MonitoredSession : detail::hook_error<detail::chain_verdict<detail::extended_executor<Exec, Chain>, Chain>> {
  using Hooked = HookedLayer<Exec, Chain>;

 public:
  using Executor = typename Hooked::Executor;
  using HookList = typename Hooked::HookList;
  using Session = typename Hooked::Session;
  static constexpr bool usable = Hooked::usable;

  /// Throws what a hook's begin or after_create_session, the creator or the executor throws; then no other phase is
  /// called.
  explicit MonitoredSession(Exec executor, Chain chain = Chain{}, Creator creator = Creator{},
                            SessionOptions options = SessionOptions{})
      : hooked_(static_cast<Exec&&>(executor), static_cast<Chain&&>(chain)),
        coordinated_(options.stop_grace_period_secs, options.clock),
        recovery_(options.recovery, options.clock),
        creator_(static_cast<Creator&&>(creator)) {
    [[maybe_unused]] call_is_usable<typename decltype(detail::creator_reason<Creator, Executor>())::type> checked;
    hooked_.begin();
    open();
  }
  MonitoredSession(Exec executor, Chain chain, SessionOptions options)
      : MonitoredSession(static_cast<Exec&&>(executor), static_cast<Chain&&>(chain), Creator{}, options) {}
  MonitoredSession(const MonitoredSession&) = delete;
  MonitoredSession& operator=(const MonitoredSession&) = delete;

  /// A session that was never closed ends without `end`, and says so on the diagnostic sink.
  ~MonitoredSession() {
    if (!closed()) {
      diagnose("crochet: a session was destroyed without close(), so no hook saw end(); use run_session");
    }
  }

  /// One run: `session.run(fetches<"loss">, targets<"train">, feed<"images">(x))`, arguments in any order. Returns the
  /// fetched values; views among them are valid until the next run.
  /// Throws LogicError once the session has stopped or is closed, else what a hook or the executor throws, except a
  /// PreemptionError that it recovers from. Cost: the hooks' bodies and the executor's; no allocation, no virtual call.
  template <RequestPart... A>
  CROCHET_HOST_ALWAYS_INLINE auto run(A&&... args) {
    const RunArgs request{std::forward<A>(args)...};
    using Request = std::remove_const_t<decltype(request)>;
    [[maybe_unused]] call_is_usable<detail::call_reason<Executor, Request>> checked;
    constexpr bool good = usable && detail::good_call<Executor, Request>;
    using Verdict = detail::run_verdict<good, Executor, HookList, Request>;
    [[maybe_unused]] detail::hook_error<Verdict> checked_hooks;
    if constexpr (good && detail::no_bad_hook<Verdict>) {
      if (hooked_.state() != SessionState::running) [[unlikely]] {
        return run_again<Request>(request);
      }
      try {
        return hooked_.run(request);
      } catch (...) {
        return run_failed<Request>(request);
      }
    } else {
      return detail::fetch_none<Executor>(typename Request::fetches_type{});
    }
  }
  /// One run that no hook sees. Does not touch the values of the last hooked run.
  template <RequestPart... A>
  auto run(NoHooks, A&&... args) {
    if (closed()) refuse();
    return raw_session().run(std::forward<A>(args)...);
  }

  /// Calls `step(context)` and returns what it returns; `context` is a StepContext<...>&. After a PreemptionError the
  /// session is created anew and the function called again, from its start and with the new session. Whether hooks see
  /// anything is the function's choice. Throws LogicError if the session is closed.
  template <class Step>
  auto run_step_fn(Step&& step) {
    using Context = StepContext<MonitoredSession>;
    using Reason = typename decltype(detail::step_function_reason<Step, Context>())::type;
    [[maybe_unused]] call_is_usable<Reason> checked;
    if constexpr (std::is_same_v<Reason, error::none>) {
      if (hooked_.state() > SessionState::stopped) refuse();
      const auto attempt = [&] {
        Context context{*this};
        return step(context);
      };
      try {
        return attempt();
      } catch (const PreemptionError&) {
        return try_again(std::current_exception(), attempt);
      }
    }
  }

  /// True once a hook's stop is latched, somebody stopped the coordinator, or the session is closed. Sees to a
  /// PreemptionError that a thread reported: recovers, and says false. Cost: three loads.
  [[nodiscard]] bool should_stop() {
    if (!hooked_.may_run()) return true;
    if (!coordinator().should_stop()) [[likely]] {
      return false;
    }
    return stop_or_recover();
  }
  /// Ends the loop: should_stop() is true from now on. The first request counts.
  void request_stop(std::string_view reason = {}, std::string_view who = "the caller") {
    if (!hooked_.may_run()) return;
    hooked_.stop().note(who, reason);
    hooked_.set_state(SessionState::stopped);
  }
  /// Keeps who ended the loop, and why, if nobody else did. For whoever drives a session.
  void note_stop(std::string_view who, std::string_view reason) { hooked_.stop().note(who, reason); }

  [[nodiscard]] bool closed() const { return hooked_.state() == SessionState::closed; }
  /// Who asked to stop, and why. Known once should_stop() is true, and for good.
  [[nodiscard]] const StopReason& stop_reason() const { return hooked_.stop().reason(); }
  /// The global step: the executor's own, else the number of runs that succeeded.
  [[nodiscard]] std::int64_t step() const { return hooked_.raw().step(); }
  /// How often the session was created anew.
  [[nodiscard]] int recoveries() const { return recovery_.recoveries(); }

  [[nodiscard]] HookList& hooks() { return hooked_.chain(); }
  [[nodiscard]] const HookList& hooks() const { return hooked_.chain(); }
  [[nodiscard]] Session& raw_session() { return hooked_.raw(); }
  [[nodiscard]] Executor& executor() { return hooked_.executor(); }
  [[nodiscard]] Coordinator& coordinator() { return coordinated_.coordinator(); }
  [[nodiscard]] const Coordinator& coordinator() const { return coordinated_.coordinator(); }

  /// The good end: every hook's end, in order; threads are stopped and joined; then closed. If hooks throw, the others
  /// still get their turn; the first error leaves, with the further ones nested in it (Error::nested), last of them
  /// what a thread reported. Nothing happens if the session is closed.
  CROCHET_COLD void close() {
    if (closed()) return;
    adopt_reason();
    detail::NestedErrors errors;
    if constexpr (usable) hooks().template fire_guarded<phase::end>(errors, raw_session());
    hooked_.set_state(SessionState::closed);  // before anything that could come back here
    std::exception_ptr reported = coordinated_.close();
    hooked_.close_raw();
    say_why();
    if (reported && !swallowed(reported)) errors(reported);
    errors.rethrow_first();
  }

  /// The bad end: every hook's on_error with the error that is about to leave, then closed. No hook sees end. What
  /// hooks throw here goes to the diagnostic sink; what a thread reported is nested in the error. Nothing happens if
  /// the session is closed.
  CROCHET_COLD void fail(std::exception_ptr error) {
    if (closed()) return;
    hooked_.on_error(error);
    hooked_.set_state(SessionState::closed);
    std::exception_ptr reported = coordinated_.close();
    hooked_.close_raw();
    if (error && reported && reported != error && !swallowed(reported)) detail::nest_in(error, reported);
  }

 private:
  template <class>
  friend class StepContext;

  // ---- creating the session
  // ------------------------------------------------------------------------------------------

  CROCHET_COLD void open() {
    try {
      open_first();
    } catch (...) {
      hooked_.close_raw();  // what is half made
      throw;
    }
  }
  void open_first() {
    try {
      hooked_.create(creator_, coordinator());
    } catch (const PreemptionError&) {
      recover(std::current_exception());
    }
  }

  /// Creates the session anew, after an error that it may recover from; throws it, or what then goes wrong, if not.
  CROCHET_COLD void recover(std::exception_ptr error) {
    if (!Recovery::recovers || !detail::is_preemption(error)) std::rethrow_exception(error);
    const SessionState before = hooked_.state();  // a stop outlives the session that it was asked of
    const std::int64_t reached = step();
    for (;;) {
      lose();
      recovery_.pause(error, step(), coordinator());
      try {
        hooked_.create(creator_, coordinator());
        hooked_.set_state(before);
        say_what_was_lost(reached);
        return;
      } catch (const PreemptionError&) {
        error = std::current_exception();
      }
    }
  }

  void say_what_was_lost(std::int64_t reached) const {
    if (step() >= reached) return;
    diagnose("crochet: the session goes on at step " + std::to_string(step()) +
             "; steps lost: " + std::to_string(reached - step()));
  }

  /// Gives the session up. Throws what a thread reported, if no new session can cure that.
  void lose() {
    hooked_.set_state(SessionState::lost);
    coordinated_.restart();
    hooked_.close_raw();
    coordinator().raise_requested_exception();
  }

  // ---- runs that do not go well
  // --------------------------------------------------------------------------------------

  /// Goes on after a failed attempt, whose exception is being handled, until one succeeds.
  template <class Request>
  CROCHET_COLD auto run_failed(detail::handed_over<Request> request) {
    hooked_.failed();
    return try_again(coordinated_.cause_of(std::current_exception()), [&] { return attempt(request); });
  }
  template <class Attempt>
  CROCHET_COLD auto try_again(std::exception_ptr error, const Attempt& attempt) {
    for (;;) {
      recover(error);
      try {
        return attempt();
      } catch (const PreemptionError&) {
        error = std::current_exception();
      }
    }
  }
  /// One attempt, with the bookkeeping that a run which goes well can do without.
  template <class Request>
  CROCHET_COLD auto attempt(const Request& request) {
    try {
      auto values = hooked_.run(request);
      hooked_.succeeded();
      return values;
    } catch (...) {
      hooked_.failed();
      std::rethrow_exception(coordinated_.cause_of(std::current_exception()));
    }
  }
  /// A run when the state is not `running`: refuses, or is the next attempt after one that failed.
  template <class Request>
  CROCHET_COLD auto run_again(detail::handed_over<Request> request) {
    if (!hooked_.may_run()) refuse();
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
    [[maybe_unused]] call_is_usable<detail::call_reason<Executor, Request>> checked;
    constexpr bool good = usable && detail::good_call<Executor, Request>;
    using Verdict = detail::run_verdict<good, Executor, HookList, Request>;
    [[maybe_unused]] detail::hook_error<Verdict> checked_hooks;
    if constexpr (good && detail::no_bad_hook<Verdict>) {
      if (!hooked_.may_run()) refuse();
      return attempt(request);
    } else {
      return detail::fetch_none<Executor>(typename Request::fetches_type{});
    }
  }

  // ---- stopping
  // ------------------------------------------------------------------------------------------------------

  /// The coordinator wants to stop.
  CROCHET_COLD bool stop_or_recover() {
    const std::exception_ptr error = coordinator().error();
    if (!Recovery::recovers && error) std::rethrow_exception(error);
    if (detail::is_preemption(error)) {
      recover(error);
      if (!coordinator().should_stop()) return false;
    }
    adopt_reason();
    return true;
  }
  /// The coordinator's reason becomes the session's, unless it has one.
  void adopt_reason() {
    if (!coordinator().should_stop()) return;
    const std::exception_ptr error = coordinator().error();
    const std::string who(coordinator().who());
    const int signal = detail::stop_signal.load();
    if (error) {
      note_stop(who.empty() ? "a thread" : who, detail::what_of(error));
    } else if (signal != 0) {
      note_stop("StopOnSignal", detail::name_of_signal(signal));
    } else {
      note_stop(who.empty() ? "the coordinator" : who, coordinator().reason());
    }
  }
  /// The last line.
  void say_why() {
    hooked_.stop().at_step(step());
    if (hooked_.stop().has_reason()) {
      diagnose("crochet: stopped at step " + std::to_string(step()) + " by " + to_string(stop_reason()));
    }
  }
  /// A session that can recover does not fail of a PreemptionError when it is closed anyway.
  [[nodiscard]] static bool swallowed(const std::exception_ptr& reported) {
    if (!Recovery::recovers || !detail::is_preemption(reported)) return false;
    diagnose("crochet: while the session was closed: " + detail::what_of(reported));
    return true;
  }

  [[noreturn]] CROCHET_COLD void refuse() const {
    if (closed()) throw LogicError("crochet: run() of a session that is closed");
    if (hooked_.state() == SessionState::lost)
      throw LogicError("crochet: run() of a session that was lost and could not be created anew; close it");
    throw LogicError("crochet: run() of a session that has stopped (" + to_string(stop_reason()) +
                     "); end the loop when should_stop() is true");
  }

  Hooked hooked_;
  CoordinatedLayer coordinated_;
  Recovery recovery_;
  Creator creator_;
};
template <class Exec>
MonitoredSession(Exec) -> MonitoredSession<Exec, HookChain<>>;
template <class Exec, class... H>
MonitoredSession(Exec, HookChain<H...>) -> MonitoredSession<Exec, HookChain<H...>>;
template <class Exec, class... H>
MonitoredSession(Exec, HookChain<H...>, SessionOptions) -> MonitoredSession<Exec, HookChain<H...>>;
template <class Exec, class... H, class Creator>
MonitoredSession(Exec, HookChain<H...>, Creator, SessionOptions = {})
    -> MonitoredSession<Exec, HookChain<H...>, Creator>;

}  // namespace crochet
