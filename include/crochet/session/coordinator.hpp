// SPDX-License-Identifier: Apache-2.0
// Coordinator: how threads that belong to a session tell each other to stop, and how their errors reach its loop.
#pragma once

#include <exception>
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

/// Lets anybody, on any thread, end the loop of a session, with an error or without. Hooks get it in
/// after_create_session; it stays the same object when a session is created anew. Threads are started by
/// start_thread(coordinator, "name", body) of crochet/session/threads.hpp. The first error is kept.
class Coordinator {
 public:
  /// `clean`: errors for which it returns true stop the loop without being errors; null: every error is one.
  explicit Coordinator(CleanStop clean = &is_any_of<OutOfRangeError>) : clean_(clean) {}
  Coordinator(const Coordinator&) = delete;
  Coordinator& operator=(const Coordinator&) = delete;
  /// Stops its threads and waits for them, however long that takes: what they use may go away next.
  ~Coordinator() {
    if (threads_.load() != nullptr) end_threads();
  }

  /// Asks the session's loop to end. The first request is kept: why, and `who`, say the name of a thread. Any thread.
  CROCHET_COLD void request_stop(std::string_view reason = {}, std::string_view who = {}) {
    take(nullptr, reason, who);
    tell_threads();
  }

  /// The same because of an error, which the loop is then given; the first error is kept, also if a stop without one
  /// came before. Once joined, the error is thrown here instead.
  CROCHET_COLD void request_stop(std::exception_ptr error, std::string_view who = {}) {
    if (error && clean_ != nullptr && clean_(error)) error = nullptr;
    if (error && joined()) std::rethrow_exception(error);
    take(std::move(error), {}, who);
    tell_threads();
  }

  /// Calls `body()`; what it throws becomes the error of a stop.
  template <class Body>
  void stop_on_exception(Body&& body) {
    try {
      std::forward<Body>(body)();
    } catch (...) {
      request_stop(std::current_exception());
    }
  }

  /// Whether anybody asked, or a signal came (hooks/stop_on_signal.hpp). Any thread; two loads.
  [[nodiscard]] bool should_stop() const { return stop_.load() || detail::stop_signal.load() != 0; }

  /// Waits until somebody asks, at most so long (without end by default). Returns should_stop(). Any thread.
  bool wait_for_stop(double timeout_secs = 1e30, SleepClock clock = {}) const {
    clock.sleep(timeout_secs, [&] { return should_stop(); });
    return should_stop();
  }

  /// The reason of the first request, and the name of the thread that made it. Empty until should_stop(), if none was
  /// given, and, for the reason, if the first request was an error. Any thread; each returns a copy.
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

  /// Waits until every thread has ended, then throws the first error if there is one. Waits without end for a stop, and
  /// from then on at most for the grace period; threads that still run then are a DeadlineExceededError with their
  /// names, or with `ignore_live_threads` a diagnostic. Does not itself ask for a stop. One thread at a time.
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

  /// Forgets the stop and its error: a next round of threads may be started. Not while threads run.
  void clear_stop() {
    if (auto* threads = threads_.load()) threads->renew();
    detail::MutexLock lock{mutex_};
    error_ = nullptr;
    reason_.clear(), who_.clear(), error_who_.clear();
    requested_ = requested_before_ = false;
    joined_.store(false);
    stop_.store(false);
  }

  /// The threads, made by `make()` when there are none yet. For start_thread.
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

  /// For sessions that are created anew: ends and joins the threads. What others asked for meanwhile and before is
  /// kept, except an error for which `forget(error)` is true.
  template <class Forget>
  CROCHET_COLD void restart_threads(double grace_secs, SleepClock clock, Forget&& forget) {
    stop_.store(true);
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
    std::string why(reason), name(who);  // allocated before the lock is taken
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
    const std::string late = join_threads(1, {});
    if (!late.empty()) diagnose(detail::message({"crochet: waiting for threads that do not stop: ", late}));
    delete threads_.load();
  }
  void tell_threads() {
    if (auto* threads = threads_.load()) threads->request_stop();
  }
  /// With the mutex held.
  [[nodiscard]] bool error_is_first() const { return error_ && !requested_before_; }
  /// Returns the names of those that are late.
  CROCHET_COLD std::string join_threads(double grace_secs, SleepClock clock) {
    auto* threads = threads_.load();
    if (threads == nullptr) return {};
    const auto ended = [&] { return threads->all_ended(); };
    for (double pause = 1e-3; !should_stop() && !ended(); pause = pause < 0.1 ? 2 * pause : pause) {
      clock.sleep(pause, [] { return false; });
    }
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
  mutable detail::Mutex mutex_;    // for all that follows, except the pointer
  bool requested_ = false;         // a stop without an error was requested, not by restart_threads
  bool requested_before_ = false;  // asked_ when the error came
  std::string reason_, who_, error_who_;
  std::exception_ptr error_;
  detail::Atomic<detail::ThreadGroup*> threads_{nullptr};
};

}  // namespace crochet
