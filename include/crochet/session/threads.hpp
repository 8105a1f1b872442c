// SPDX-License-Identifier: Apache-2.0
// Threads that belong to a coordinator: it stops and joins them and receives their exceptions.
#pragma once

#include <atomic>
#include <exception>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include <crochet/base/diagnostics.hpp>
#include <crochet/base/error.hpp>
#include <crochet/base/nested_errors.hpp>
#include <crochet/base/sleep_clock.hpp>
#include <crochet/session/coordinator.hpp>

namespace crochet {

namespace detail {

/// The threads of one coordinator. All threads started since the last renew share one stop source.
class Threads final : public ThreadGroup {
 public:
  void request_stop() override { source().request_stop(); }  // outside the lock: stop callbacks run in it
  bool all_ended() override {
    std::scoped_lock lock{mutex_};
    for (const Running& each : running_) {
      if (!each.ended->load()) return false;
    }
    return true;
  }
  std::string reap() override {
    std::scoped_lock lock{mutex_};
    std::erase_if(running_, [](const Running& each) { return each.ended->load(); });
    std::string late;
    for (const Running& each : running_) late += (late.empty() ? "" : ", ") + each.name;
    return late;
  }
  void renew() override {
    std::scoped_lock lock{mutex_};
    source_ = std::stop_source{};
  }

  /// Runs `body(stop)` in a new thread. Throws ResourceExhaustedError if the system cannot start one.
  template <class Body>
  void start(Coordinator& coordinator, std::string name, Body body) {
    auto ended = std::make_shared<std::atomic<bool>>(false);
    {
      std::scoped_lock lock{mutex_};
      auto all = [&coordinator, name, ended, stop = source_.get_token(), body = std::move(body)]() mutable {
        try {
          body(stop);
        } catch (...) {
          report(coordinator, name);
        }
        ended->store(true);
      };
      Running& mine = running_.emplace_back(Running{std::move(name), std::move(ended), {}});
      try {
        mine.thread = std::jthread(std::move(all));
      } catch (const std::system_error& error) {
        const std::string what = "crochet: the thread '" + mine.name +
                                 "' cannot be started: " + error.code().message() +
                                 "; use fewer threads, or raise the limit of the system";
        running_.pop_back();
        throw ResourceExhaustedError(what);
      } catch (...) {  // no memory, or the move of the body
        running_.pop_back();
        throw;
      }
    }
    if (coordinator.should_stop())
      request_stop();  // the stop may have been requested before this thread was
                       // registered
  }

 private:
  struct Running {
    std::string name;
    std::shared_ptr<std::atomic<bool>> ended;
    std::jthread thread;  // joins in its destructor
  };
  /// Passes the current exception to the coordinator. Prints it if the threads were already joined, since no caller
  /// would receive it.
  static void report(Coordinator& coordinator, const std::string& name) {
    const std::exception_ptr error = std::current_exception();
    try {
      coordinator.request_stop(error, name);
    } catch (...) {
      diagnose_or("crochet: a thread failed after it was given up",
                  [&] { return "crochet: the thread " + name + " failed after it was given up: " + what_of(error); });
    }
  }
  std::stop_source source() {
    std::scoped_lock lock{mutex_};
    return source_;
  }

  std::mutex mutex_;
  std::stop_source source_;
  std::vector<Running> running_;
};

}  // namespace detail

/// Starts a thread that runs `body(std::stop_token)` or `body()`. Any thread may call this.
/// - name: for messages.
/// - A stop request to the coordinator also sets the token.
/// - An exception of the body becomes the coordinator's error and reaches the session's loop with its next
///   should_stop(). After the grace period of a join it is a diagnostic.
/// - The coordinator outlives and joins the thread. References in the body must be valid until then. A hook that starts
///   threads in after_create_session starts them anew after each recovery, when the earlier threads have been joined.
/// - Throws ResourceExhaustedError with the thread's name if the system cannot start one.
template <class Body>
void start_thread(Coordinator& coordinator, std::string name, Body body) {
  detail::ThreadGroup& group = coordinator.threads([] { return new detail::Threads; });
  auto& threads = static_cast<detail::Threads&>(group);
  if constexpr (std::is_invocable_v<Body&, std::stop_token>) {
    threads.start(coordinator, std::move(name), std::move(body));
  } else {
    static_assert(std::is_invocable_v<Body&>, "crochet: a thread's body is called with a std::stop_token or nothing");
    threads.start(coordinator, std::move(name), [body = std::move(body)](const std::stop_token&) mutable { body(); });
  }
}

/// The interval of a looper thread's calls.
struct LooperOptions {
  /// Seconds from one call to the next; 0: no pause. The schedule is fixed at the first call, so a slow call does not
  /// shift later calls. Missed calls are made immediately.
  double interval_secs = 0;
  SleepClock clock{};
};

/// TensorFlow's LooperThread: starts a thread that calls the target repeatedly, the first time immediately, until the
/// coordinator should stop. The target is a callable, or an object with `run_loop()` and optionally `start_loop()`
/// (before) and `stop_loop()` (after). An exception ends the thread and becomes the coordinator's error.
template <class Target>
void start_looper_thread(Coordinator& coordinator, std::string name, Target target, LooperOptions options = {}) {
  start_thread(coordinator, std::move(name),
               [target = std::move(target), options](const std::stop_token& stop) mutable {
                 if constexpr (requires { target.start_loop(); }) target.start_loop();
                 const double start = options.clock.now();
                 for (double calls = 1; !stop.stop_requested(); ++calls) {
                   if constexpr (requires { target.run_loop(); }) {
                     target.run_loop();
                   } else {
                     target();
                   }
                   const double pause = start + calls * options.interval_secs - options.clock.now();
                   options.clock.sleep(pause, [&] { return stop.stop_requested(); });
                 }
                 if constexpr (requires { target.stop_loop(); }) target.stop_loop();
               });
}

}  // namespace crochet
