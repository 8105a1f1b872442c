// SPDX-License-Identifier: Apache-2.0
// Threads that belong to a coordinator: it tells them to stop, joins them, and is told what they throw.
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

/// The threads of one coordinator. All that were started since the last renew share one stop source.
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

  /// `body(stop)` in a new thread. Throws ResourceExhaustedError if the system starts none.
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
      }
    }
    if (coordinator.should_stop()) request_stop();  // asked before this thread was there to be told
  }

 private:
  struct Running {
    std::string name;
    std::shared_ptr<std::atomic<bool>> ended;
    std::jthread thread;  // joins when it is destroyed
  };
  /// The exception at hand becomes the coordinator's; it is said if that was joined already, since nobody will ask.
  static void report(Coordinator& coordinator, const std::string& name) {
    const std::exception_ptr error = std::current_exception();
    try {
      coordinator.request_stop(error, name);
    } catch (...) {
      diagnose("crochet: the thread " + name + " failed after it was given up: " + what_of(error));
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

/// Starts a thread that runs `body(std::stop_token)` or `body()`. When the coordinator is asked to stop, so is the
/// token; what the body throws becomes the coordinator's error, which reaches the session's loop with its next
/// should_stop(); after the grace period of a join it is a diagnostic. The name is for messages. The coordinator joins
/// it; it outlives the thread. What the body refers to must live until then: a hook that starts threads in
/// after_create_session does so anew after each recovery, when the threads before have been joined. Any thread may call
/// this. Throws ResourceExhaustedError, which names the thread, if the system starts no further one.
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

/// How often a looper thread calls its target.
struct LooperOptions {
  /// Seconds from one call to the next; 0: without a pause. The schedule is fixed at the first call, so a call that
  /// takes long does not shift those that follow; boundaries that passed meanwhile are made up for at once.
  double interval_secs = 0;
  SleepClock clock{};
};

/// The original's LooperThread: starts a thread that calls the target again and again, first at once, until the
/// coordinator should stop. The target is a callable, or an object with `run_loop()` and, if it has them,
/// `start_loop()` before and `stop_loop()` after. What it throws ends the thread and becomes the coordinator's error.
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
