// SPDX-License-Identifier: Apache-2.0
// Coordinator: stops the threads of a session together and passes their errors to its loop.
#pragma once

#include <exception>
#include <new>
#include <string>
#include <string_view>
#include <utility>

#include <crochet/base/atomic.hpp>
#include <crochet/base/config.hpp>
#include <crochet/base/diagnostics.hpp>
#include <crochet/base/error.hpp>
#include <crochet/base/message.hpp>
#include <crochet/base/mutex.hpp>
#include <crochet/base/sleep_clock.hpp>
#include <crochet/base/thread_group.hpp>
#include <crochet/session/clean_stop.hpp>
#include <crochet/session/signal_flag.hpp>

namespace crochet {

/// Ends the loop of a session from any thread, with or without an error.
/// - Hooks receive it in after_create_session. It stays the same object when a session is recreated.
/// - start_thread(coordinator, "name", body) of crochet/session/threads.hpp starts threads.
/// - The first error is kept.
class Coordinator {
 public:
  /// `clean`: returns true for exceptions that stop the loop without being errors. If null, every exception is an
  /// error.
  explicit Coordinator(CleanStop clean = &is_any_of<OutOfRangeError>) : clean_(clean) {}
  Coordinator(const Coordinator&) = delete;
  Coordinator& operator=(const Coordinator&) = delete;
  /// Stops its threads and joins them without a time limit: objects that they use may be destroyed next.
  ~Coordinator() {
    if (threads_.load() != nullptr) end_threads();
  }

  /// Requests the end of the session's loop. The first request is kept, with its reason and `who`, for example the name
  /// of a thread. Any thread.
  CROCHET_COLD void request_stop(std::string_view reason = {}, std::string_view who = {}) {
    take(nullptr, reason, who);
    tell_threads();
  }

  /// Requests the end of the loop with an error, which is passed to the loop. The first error is kept, also after a
  /// stop without an error. Throws the error here if the threads have been joined.
  CROCHET_COLD void request_stop(std::exception_ptr error, std::string_view who = {}) {
    if (error && clean_ != nullptr && clean_(error)) error = nullptr;
    if (error && joined()) std::rethrow_exception(error);
    take(std::move(error), {}, who);
    tell_threads();
  }

  /// Calls `body()`. An exception from it requests a stop with that error.
  template <class Body>
  void stop_on_exception(Body&& body) {
    try {
      std::forward<Body>(body)();
    } catch (...) {
      request_stop(std::current_exception());
    }
  }

  /// Whether a stop was requested, or a signal was received (hooks/stop_on_signal.hpp). Any thread; two loads.
  [[nodiscard]] bool should_stop() const { return stop_.load() || detail::received_signal.load() != 0; }

  /// Whether a stop was requested, whether or not a signal was received. Any thread; one load.
  [[nodiscard]] bool stop_requested() const { return stop_.load(); }

  /// Waits for a stop request, at most `timeout_secs` seconds (default: no limit). Returns should_stop(). Any thread.
  bool wait_for_stop(double timeout_secs = 1e30, SleepClock clock = {}) const {
    clock.sleep(timeout_secs, [&] { return should_stop(); });
    return should_stop();
  }

  /// The reason of the first request, and the name of the thread that made it. Empty before should_stop() is true, and
  /// if none was given; the reason is also empty if the first request was an error. Any thread; each returns a copy.
  [[nodiscard]] std::string reason() const {
    detail::MutexLock lock{mutex_};
    return error_is_first() ? std::string{} : reason_;
  }
  [[nodiscard]] std::string who() const {
    detail::MutexLock lock{mutex_};
    return error_is_first() ? error_who_ : who_;
  }
  /// Whether the first request was an error. False also for a stop without an error, a reason or a name. Any thread.
  [[nodiscard]] bool error_came_first() const {
    detail::MutexLock lock{mutex_};
    return error_is_first();
  }
  /// The first error, or null.
  [[nodiscard]] std::exception_ptr error() const {
    detail::MutexLock lock{mutex_};
    return error_;
  }
  /// Throws the first error, if there is one.
  void raise_requested_exception() const {
    if (std::exception_ptr error = this->error()) std::rethrow_exception(error);
  }

  /// Waits until every thread has ended, then throws the first error if there is one. Does not request a stop. One
  /// thread at a time.
  /// - Waits for a stop request without a limit, and after it for at most `stop_grace_period_secs` seconds.
  /// - Threads that are still running then cause a DeadlineExceededError with their names, or with
  ///   `ignore_live_threads` a diagnostic.
  CROCHET_COLD void join(double stop_grace_period_secs = 120, bool ignore_live_threads = false, SleepClock clock = {}) {
    const std::string late = join_threads(stop_grace_period_secs, clock);
    joined_.store(true);
    raise_requested_exception();
    if (late.empty()) return;
    const std::string message = detail::message({"crochet: threads still running after the grace period: ", late});
    if (!ignore_live_threads) throw DeadlineExceededError(message);
    diagnose(message);
  }
  [[nodiscard]] bool joined() const { return joined_.load(); }

  /// Clears the stop and its error, so that new threads may be started. Not while threads run.
  void clear_stop() {
    if (auto* threads = threads_.load()) threads->renew();
    detail::MutexLock lock{mutex_};
    error_ = nullptr;
    reason_.clear(), who_.clear(), error_who_.clear();
    requested_ = requested_before_ = false;
    joined_.store(false);
    stop_.store(false);
  }

  /// The threads, created by `make()` on first use. For start_thread.
  template <class Make>
  detail::ThreadGroup& threads(Make&& make) {
    if (threads_.load() == nullptr) {
      detail::ThreadGroup* made = make();
      detail::MutexLock lock{mutex_};
      threads_.load() == nullptr ? threads_.store(std::exchange(made, nullptr)) : void();
      delete made;
    }
    return *threads_.load();
  }

  /// For sessions that are recreated: stops and joins the threads. Keeps all stop requests, except an error for which
  /// `forget(error)` is true.
  template <class Forget>
  CROCHET_COLD void restart_threads(double grace_secs, SleepClock clock, Forget&& forget) {
    {
      // A thread that is being started reads the stop, or tell_threads() finds its group.
      detail::MutexLock lock{mutex_};
      stop_.store(true);
    }
    tell_threads();
    const std::string late = join_threads(grace_secs, clock);
    if (!late.empty()) diagnose(detail::message({"crochet: threads still running after the grace period: ", late}));
    if (auto* threads = threads_.load()) threads->renew();
    const std::exception_ptr error = this->error();
    const bool forgotten = error && forget(error);
    detail::MutexLock lock{mutex_};
    if (forgotten) error_ = nullptr, error_who_.clear();
    joined_.store(false);
    stop_.store(requested_ || error_);
  }

 private:
  CROCHET_COLD void take(std::exception_ptr error, std::string_view reason, std::string_view who) {
    std::string why, name;  // allocated before the lock is taken
    try {
      why = reason, name = who;
    } catch (const std::bad_alloc&) {  // the stop matters more than its texts
    }
    detail::MutexLock lock{mutex_};
    if (error && !error_) {
      error_ = std::move(error);
      error_who_.swap(name);
      requested_before_ = requested_;
    } else if (!error && !requested_) {
      requested_ = true;
      reason_.swap(why);
      who_.swap(name);
    }
    stop_.store(true);
  }
  CROCHET_COLD void end_threads() {
    request_stop("the coordinator was destroyed");
    try {
      const std::string late = join_threads(1, {});
      if (!late.empty()) diagnose(detail::message({"crochet: waiting for threads that do not stop: ", late}));
    } catch (const std::bad_alloc&) {  // for the names
    }
    delete threads_.load();
  }
  void tell_threads() {
    if (auto* threads = threads_.load()) threads->request_stop();
  }
  /// Requires the mutex.
  [[nodiscard]] bool error_is_first() const { return error_ && !requested_before_; }
  /// Returns the names of late threads.
  CROCHET_COLD std::string join_threads(double grace_secs, SleepClock clock) {
    auto* threads = threads_.load();
    if (threads == nullptr) return {};
    const auto ended = [&] { return threads->all_ended(); };
    for (double pause = 1e-3; !should_stop() && !ended(); pause = pause < 0.1 ? 2 * pause : pause) {
      clock.sleep(pause, [] { return false; });
    }
    if (should_stop()) tell_threads();  // of a signal, too
    const double end = clock.now() + grace_secs;
    for (double pause = 1e-3; !ended() && clock.now() < end; pause = pause < 0.1 ? 2 * pause : pause) {
      const double left = end - clock.now();
      clock.sleep(pause < left ? pause : left, [] { return false; });
    }
    return threads->reap();
  }

  CleanStop clean_;
  detail::Atomic<bool> stop_{false};
  detail::Atomic<bool> joined_{false};
  mutable detail::Mutex mutex_;    // guards all members below, except the pointer
  bool requested_ = false;         // a stop without an error was requested, not by restart_threads
  bool requested_before_ = false;  // requested_ at the time of the error
  std::string reason_, who_, error_who_;
  std::exception_ptr error_;
  detail::Atomic<detail::ThreadGroup*> threads_{nullptr};
};

}  // namespace crochet
