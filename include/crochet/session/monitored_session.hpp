// SPDX-License-Identifier: Apache-2.0
// MonitoredSession: an executor driven under a chain of hooks.
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
#include <crochet/session/coordinator.hpp>
#include <crochet/session/diagnostics.hpp>
#include <crochet/session/executor.hpp>
#include <crochet/session/extend.hpp>
#include <crochet/session/hooked_run.hpp>
#include <crochet/session/nested_errors.hpp>
#include <crochet/session/raw_session.hpp>
#include <crochet/session/stop.hpp>

namespace crochet {

namespace detail {

template <class Exec, class Chain>
using chain_verdict = session_verdict<std::remove_reference_t<Exec>, std::remove_reference_t<Chain>>;

}  // namespace detail

/// Owns an executor and a chain, and calls the hooks in list order in every phase:
///   constructor   begin (all hooks), then the executor is initialized, then after_create_session (all hooks)
///   run           before_run (all), the executor once, after_run (all); then a requested stop is latched
///   close         end (all hooks, even if one throws), then closed
/// An exception of a hook or of the executor leaves the phase at once and reaches the caller; caught inside the loop,
/// the session stays usable. `run_session` (crochet/session/run_session.hpp) decides between end and on_error. `Exec`
/// and `Chain` may be lvalue references: then the session borrows the caller's object. One thread at a time; only the
/// coordinator may be used from others. Recovery (a new RawSession under the same hooks), thread joining and creators
/// have their place here: open().
template <class Exec, class Chain>
class MonitoredSession : detail::hook_error<detail::chain_verdict<detail::extended_executor<Exec, Chain>, Chain>> {
  using HookList = std::remove_reference_t<Chain>;
  using Owned = detail::extended_executor<Exec, Chain>;

 public:
  /// The executor after every extend_graph.
  using Executor = std::remove_reference_t<Owned>;
  using Session = RawSession<Executor>;

  static_assert(crochet::Executor<Executor>);
  /// False once the compiler has said that a hook cannot be used; then no hook is called, so that it stays the one
  /// error.
  static constexpr bool usable = detail::no_bad_hook<detail::chain_verdict<Owned, Chain>>;

  /// Throws what a hook's begin or after_create_session or the executor throws; then no other phase is called.
  explicit MonitoredSession(Exec executor, Chain chain = Chain{})
      : executor_(static_cast<Exec&&>(executor)), chain_(static_cast<Chain&&>(chain)), raw_(executor_) {
    if constexpr (usable) chain_.template fire<phase::begin>();
    open();
  }
  MonitoredSession(const MonitoredSession&) = delete;
  MonitoredSession& operator=(const MonitoredSession&) = delete;

  /// A session that was never closed ends without `end`, and says so on the diagnostic sink.
  ~MonitoredSession() {
    if (state_ != State::closed) {
      diagnose("crochet: a session was destroyed without close(), so no hook saw end(); use run_session");
    }
  }

  /// One run: `session.run(fetches<"loss">, targets<"train">, feed<"images">(x))`, arguments in any order. Returns the
  /// fetched values; views among them are valid until the next run.
  /// Throws LogicError once the session has stopped or is closed, else what a hook or the executor throws.
  /// Cost: the hooks' bodies and the executor's; no allocation, no virtual call.
  template <RequestPart... A>
  CROCHET_HOST_ALWAYS_INLINE auto run(A&&... args) {
    const RunArgs request{std::forward<A>(args)...};
    using Request = std::remove_const_t<decltype(request)>;
    [[maybe_unused]] call_is_usable<detail::call_reason<Executor, Request>> checked;
    constexpr bool good = usable && detail::good_call<Executor, Request>;
    using Verdict = detail::run_verdict<good, Executor, HookList, Request>;
    [[maybe_unused]] detail::hook_error<Verdict> checked_hooks;
    if constexpr (good && detail::no_bad_hook<Verdict>) {
      if (state_ != State::running) [[unlikely]] {
        refuse();
      }
      detail::hooked_run(raw_, chain_, stop_, request);
      if constexpr (HookList::size > 0) {
        if (stop_.requested()) [[unlikely]] {
          state_ = State::stopped;
        }
      }
      return detail::fetch_all(executor_, raw_.hooked_workspace(), typename Request::fetches_type{});
    } else {
      return detail::fetch_none<Executor>(typename Request::fetches_type{});
    }
  }
  /// One run that no hook sees. Does not touch the values of the last hooked run.
  template <RequestPart... A>
  auto run(NoHooks, A&&... args) {
    if (state_ == State::closed) refuse();
    return raw_.run(std::forward<A>(args)...);
  }

  /// True once a hook's stop is latched, a thread stopped the coordinator, or the session is closed.
  [[nodiscard]] bool should_stop() const { return state_ != State::running || coordinator_.should_stop(); }
  [[nodiscard]] bool closed() const { return state_ == State::closed; }
  /// Which hook asked to stop, and why.
  [[nodiscard]] const StopReason& stop_reason() const { return stop_.reason(); }
  /// The global step: the executor's own, else the number of runs that succeeded.
  [[nodiscard]] std::int64_t step() const { return raw_.step(); }

  [[nodiscard]] HookList& hooks() { return chain_; }
  [[nodiscard]] const HookList& hooks() const { return chain_; }
  [[nodiscard]] Session& raw_session() { return raw_; }
  [[nodiscard]] Executor& executor() { return executor_; }
  [[nodiscard]] Coordinator& coordinator() { return coordinator_; }

  /// The good end: every hook's end, in order, then closed. If hooks throw, the others still get their turn; the first
  /// error leaves, with the further ones nested in it (Error::nested). Throws LogicError if the session is closed.
  void close() {
    if (state_ == State::closed) throw LogicError("crochet: close() of a session that is already closed");
    detail::NestedErrors errors;
    if constexpr (usable) chain_.template fire_guarded<phase::end>(errors, raw_);
    shut();
    errors.rethrow_first();
  }

  /// The bad end: every hook's on_error with the error that is about to leave, then closed. No hook sees end. What
  /// hooks throw here goes to the diagnostic sink. Nothing happens if the session is closed.
  void fail(std::exception_ptr error) {
    if (state_ == State::closed) return;
    auto report = [](const std::exception_ptr& thrown) {
      diagnose("crochet: on_error of a hook threw: " + detail::what_of(thrown));
    };
    if constexpr (usable) chain_.template fire_guarded<phase::on_error>(report, error);
    shut();
  }

 private:
  enum class State : unsigned char { running, stopped, closed };

  void open() {
    if constexpr (detail::Initializes<Executor>) executor_.initialize();
    if constexpr (usable) chain_.template fire<phase::after_create_session>(raw_, coordinator_);
  }

  void shut() {
    coordinator_.request_stop("the session was closed");
    state_ = State::closed;
  }

  [[noreturn]] CROCHET_COLD void refuse() const {
    throw LogicError(state_ == State::closed ? std::string("crochet: run() of a session that is closed")
                                             : "crochet: run() of a session that has stopped" + why_stopped());
  }
  [[nodiscard]] std::string why_stopped() const {
    const StopReason& why = stop_.reason();
    return " (" + why.hook + (why.reason.empty() ? "" : ": " + why.reason) +
           "); end the loop when should_stop() is true";
  }

  StopState stop_;  // first: it then has the session's own address, which a step holds in a register anyway
  Owned executor_;
  Chain chain_;
  Coordinator coordinator_;
  Session raw_;
  State state_ = State::running;
};
template <class Exec, class... H>
MonitoredSession(Exec, HookChain<H...>) -> MonitoredSession<Exec, HookChain<H...>>;
template <class Exec>
MonitoredSession(Exec) -> MonitoredSession<Exec, HookChain<>>;

}  // namespace crochet
