// SPDX-License-Identifier: Apache-2.0
// SessionCore: the three layers of a session combined: creation, recovery, stop and close. Running is in
// monitored_session.hpp.
#pragma once

#include <cstdint>
#include <exception>
#include <new>
#include <string>
#include <string_view>
#include <utility>

#include <crochet/base/config.hpp>
#include <crochet/base/diagnostics.hpp>
#include <crochet/base/error.hpp>
#include <crochet/base/message.hpp>
#include <crochet/base/nested_errors.hpp>
#include <crochet/hook/phase.hpp>
#include <crochet/session/coordinated.hpp>
#include <crochet/session/hooked.hpp>
#include <crochet/session/recoverable.hpp>
#include <crochet/session/session_options.hpp>
#include <crochet/session/signal_flag.hpp>
#include <crochet/session/together.hpp>

namespace crochet {

/// Base of MonitoredSession; `Recovery` is Recoverable or Singular.
template <class Exec, class Chain, class Creator, class Recovery>
class SessionCore {
  using Hooked = HookedLayer<Exec, Chain>;

 public:
  using Executor = typename Hooked::Executor;
  using HookList = typename Hooked::HookList;
  using Session = typename Hooked::Session;
  static constexpr bool usable = Hooked::usable;

  SessionCore(const SessionCore&) = delete;
  SessionCore& operator=(const SessionCore&) = delete;

  /// A session that was not closed ends without `end`, and reports that on the diagnostic sink. Its threads are joined
  /// and its executor is closed.
  ~SessionCore() {
    if (closed()) return;
    detail::diagnose_or("crochet: a session was destroyed without close()", [this] {
      return detail::message({detail::line_start(executor()),
                              "a session was destroyed without close(), so no hook saw end(); use run_session"});
    });
    try {
      const auto destroyed = [] {
        return std::make_exception_ptr(LogicError("a session was destroyed without close()"));
      };
      detail::fail_on_all_ranks(executor(), failed_by_ ? failed_by_ : destroyed());
    } catch (const std::bad_alloc&) {  // for the texts
    }
    static_cast<void>(coordinated_.close());
    hooked_.close_raw();
  }

  /// Whether the loop has to end: a hook's stop is latched, the coordinator was stopped, or the session is closed.
  /// - Recovers from a PreemptionError that a thread reported; then returns false unless a stop was requested too.
  /// - Throws the error of a failed recovery. Without recovery (Singular) throws any error that a thread reported. With
  ///   it, close() throws an error of a thread that is no PreemptionError.
  /// - Cost: three loads.
  [[nodiscard]] bool should_stop() {
    if (hooked_.state() != SessionState::running) [[unlikely]] {
      hooked_.latch();
      if (!hooked_.may_run()) return true;
    }
    if (!coordinator().should_stop()) [[likely]] {
      return false;
    }
    return stop_or_recover();
  }
  /// Ends the loop: should_stop() is true from now on. The first request is kept. `kind` as for a hook's request.
  void request_stop(std::string_view reason = {}, std::string_view who = "the caller", StopKind kind = StopKind::end) {
    if (!hooked_.may_run()) return;
    hooked_.stop().note(who, reason, kind);
    hooked_.set_state(SessionState::stopped);
  }
  /// Records the source and the reason of the loop's end, unless they are already recorded or the coordinator has
  /// stopped before. For code that runs a session.
  void note_stop(std::string_view who, std::string_view reason) {
    adopt_reason();
    note_end(who, reason);
  }

  [[nodiscard]] bool closed() const { return closed_; }
  /// Whether the session was lost and could not be created anew: run() throws, and close() calls on_error.
  [[nodiscard]] bool lost() const { return hooked_.state() == SessionState::lost; }
  /// The source and the reason of the stop. Set when should_stop() becomes true. Final, unless the executor reports a
  /// run late: when the session is closed, the reason of that run replaces it.
  [[nodiscard]] const StopReason& stop_reason() const { return hooked_.stop().reason(); }
  /// The global step: the executor's own, else the number of hooked runs that the executor has made; one whose
  /// `after_run` throws counts.
  [[nodiscard]] std::int64_t step() const { return hooked_.raw().step(); }
  /// Number of complete epochs of the session's data (SessionOptions::epochs, CheckpointInputPipeline). Throws
  /// LogicError if the session has no data that counts epochs.
  [[nodiscard]] std::int64_t epoch() const { return hooked_.raw().epoch(); }
  /// How often the session was recreated.
  [[nodiscard]] int recoveries() const { return recovery_.recoveries(); }

  [[nodiscard]] HookList& hooks() { return hooked_.chain(); }
  [[nodiscard]] const HookList& hooks() const { return hooked_.chain(); }
  [[nodiscard]] Session& raw_session() { return hooked_.raw(); }
  [[nodiscard]] Executor& executor() { return hooked_.executor(); }
  [[nodiscard]] Coordinator& coordinator() { return coordinated_.coordinator(); }
  [[nodiscard]] const Coordinator& coordinator() const { return coordinated_.coordinator(); }

  /// Closes after success: every hook's end, in order; threads are stopped and joined; then closed. No effect if the
  /// session is already closed, or in an `end`.
  /// - If a hook throws, the remaining hooks are still called. The first error propagates; further errors are nested in
  ///   it (Error::nested), last the error that a thread reported.
  /// - A session that was lost and could not be recreated calls on_error in place of end: the executor's contents are
  ///   not worth a last checkpoint.
  CROCHET_COLD void close() {
    if (closed()) return note_closed();
    if (ending_) return;
    if (hooked_.state() == SessionState::lost) return close_lost();
    adopt_reason();
    leave_with_other_ranks();
    raw_session().note_interruption(hooked_.stop().interrupted());
    detail::NestedErrors errors;
    hooked_.settle(errors);
    hooked_.stop().at_step(step());  // before `end`, which may restore the best checkpoint
    ending_ = true;                  // an `end` may call close()
    if constexpr (usable) hooks().template fire_guarded<phase::end>(errors, raw_session());
    detail::finish_on_all_ranks(executor(), errors);
    hooked_.stop().note_late(raw_session().late_stop());
    note_closed();  // before any call that could re-enter here
    std::exception_ptr reported = coordinated_.close();
    hooked_.close_raw();
    say_why();
    if (reported && !swallowed(reported)) errors(reported);
    errors.rethrow_first();
  }

  /// Closes after a failure: every hook's on_error with the propagating error, then closed; end is not called.
  /// Exceptions of hooks go to the diagnostic sink; an error that a thread reported is nested in the error. No effect
  /// if the session is already closed.
  CROCHET_COLD void fail(std::exception_ptr error) {
    if (closed()) return;
    detail::fail_on_all_ranks(executor(), error);
    hooked_.on_error(error);
    give_back(error);
  }

 protected:
  SessionCore(Exec&& executor, Chain&& chain, Creator&& creator, const SessionOptions& options)
      : hooked_(static_cast<Exec&&>(executor), static_cast<Chain&&>(chain), options.epochs),
        coordinated_(options.stop_grace_period_secs, options.clock),
        recovery_(options.recovery, options.clock),
        creator_(std::move(creator)) {}

  /// begin of every hook, then the first session. On failure the session is closed without end.
  CROCHET_COLD void start() {
    try {
      hooked_.begin();
      open();
    } catch (...) {
      detail::fail_on_all_ranks(executor(), std::current_exception());
      give_back(std::current_exception());
      throw;
    }
  }

  /// Recreates the session after an error that allows recovery. Throws that error if it does not, or the error of the
  /// recovery.
  CROCHET_COLD void recover(std::exception_ptr error) {
    if (!Recovery::recovers || !detail::is_preemption(error)) {
      failed_by_ = error;
      std::rethrow_exception(error);
    }
    const SessionState before = hooked_.state();  // a stop request survives the session that received it
    const std::int64_t reached = step();
    for (bool ran = hooked_.stop().failures() <= 1;; ran = false) {
      failed_by_ = error;
      detail::lose_on_all_ranks(executor(), error);
      lose();
      recovery_.pause(error, step(), ran, coordinator(), detail::line_start_of_loss(executor(), error));
      try {
        hooked_.create(creator_, coordinator());
        hooked_.set_state(before);
        failed_by_ = nullptr;
        say_what_was_lost(reached);
        return;
      } catch (const PreemptionError&) {
        error = std::current_exception();
      } catch (...) {
        failed_by_ = std::current_exception();
        coordinated_.restart();
        hooked_.close_raw();
        throw;
      }
    }
  }

  /// Throws an error that names the reason why a session cannot be run.
  [[noreturn]] CROCHET_COLD void refuse() const {
    if (closed())
      throw LogicError("crochet: run() of a session that is closed; run within run_session, or make another session");
    if (hooked_.state() == SessionState::lost)
      throw LogicError("crochet: run() of a session that was lost and could not be created anew; close it");
    throw LogicError(detail::message({"crochet: run() of a session that has stopped (", to_string(stop_reason()),
                                      "); end the loop when should_stop() is true"}));
  }

  Hooked hooked_;
  CoordinatedLayer coordinated_;

 private:
  /// A run whose after_run has closed the session sets the state to `stopped` at its end; the next close() corrects it.
  void note_closed() {
    hooked_.set_state(SessionState::closed);
    closed_ = true;
  }
  void note_end(std::string_view who, std::string_view reason) {
    if (!detail::ended_by_another_rank(executor(), hooked_.stop())) hooked_.stop().note(who, reason);
  }
  void open() {
    try {
      hooked_.create(creator_, coordinator());
    } catch (const PreemptionError&) {
      recover(std::current_exception());
    }
  }

  /// All ranks end their loops. If one of them fails instead, so does this session.
  CROCHET_COLD void leave_with_other_ranks() {
    try {
      detail::leave_on_all_ranks(executor(), hooked_.stop(), step());
    } catch (...) {
      fail(std::current_exception());
      throw;
    }
  }

  /// Stops the threads, then closes the executor. An error that a thread reported is nested in the error.
  CROCHET_COLD void give_back(const std::exception_ptr& error) {
    note_closed();
    const std::exception_ptr reported = coordinated_.close();
    hooked_.close_raw();
    if (error && reported && reported != error && !swallowed(reported)) detail::nest_in(error, reported);
  }

  CROCHET_COLD void say_what_was_lost(std::int64_t reached) {
    if (step() >= reached || !detail::writes_lines(executor())) return;
    diagnose(detail::message({"crochet: the session goes on at step ", step(), "; steps lost: ", reached - step()}));
  }

  CROCHET_COLD void close_lost() {
    detail::diagnose_or("crochet: the session was lost, so hooks see on_error() and not end()", [this] {
      return detail::message(
          {detail::line_start(executor()),
           "the session was lost, so hooks see on_error() and not end(): ", detail::what_of(failed_by_)});
    });
    detail::fail_on_all_ranks(executor(), failed_by_);
    hooked_.on_error(failed_by_);
    note_closed();
    const std::exception_ptr reported = coordinated_.close();
    hooked_.close_raw();
    if (reported && !swallowed(reported)) std::rethrow_exception(reported);
  }
  /// Closes the lost session. Throws an error that a thread reported, unless a new session repairs it.
  CROCHET_COLD void lose() {
    hooked_.set_state(SessionState::lost);
    coordinated_.restart();
    hooked_.close_raw();
    coordinator().raise_requested_exception();
  }

  /// Called when the coordinator requests a stop.
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
  /// Copies the coordinator's reason to the session, unless it has one.
  CROCHET_COLD void adopt_reason() {
    if (!coordinator().should_stop()) return;
    const bool error_came_first = coordinator().error_came_first();  // then there is an error
    const std::string who = coordinator().who();
    const int signal = detail::received_signal.load();
    if (error_came_first) {
      const std::exception_ptr error = coordinator().error();
      const bool end_of_data = is_any_of<OutOfRangeError, StopIteration>(error);
      hooked_.stop().note(who.empty() ? "a thread" : who, detail::what_of(error),
                          end_of_data ? StopKind::end : StopKind::interruption);
    } else if (signal != 0) {
      hooked_.stop().note("StopOnSignal", detail::name_of_signal(signal), StopKind::interruption);
    } else {
      note_end(who.empty() ? "the coordinator" : who, coordinator().reason());
    }
  }
  /// Prints the final message.
  CROCHET_COLD void say_why() {
    if (!hooked_.stop().has_reason() || !detail::writes_lines(executor())) return;
    detail::diagnose_or("crochet: stopped", [this] {
      const std::int64_t step = stop_reason().step;  // nvcc: no member of a call in a braced list
      return detail::message({"crochet: stopped at step ", step, " by ", to_string(stop_reason())});
    });
  }
  /// A PreemptionError of a thread is not an error of close() if the session can recover.
  [[nodiscard]] CROCHET_COLD bool swallowed(const std::exception_ptr& reported) {
    if (!Recovery::recovers || !detail::is_preemption(reported)) return false;
    detail::diagnose_or("crochet: an error while the session was closed", [&] {
      return detail::message(
          {detail::line_start(executor()), "while the session was closed: ", detail::what_of(reported)});
    });
    return true;
  }

  Recovery recovery_;
  Creator creator_;
  bool ending_ = false;  // the hooks' `end` has begun
  bool closed_ = false;
  std::exception_ptr failed_by_;  // the last error of a run that propagated, or for which the session was recreated
};

}  // namespace crochet
