// SPDX-License-Identifier: Apache-2.0
// StopOnSignal: SIGINT (Ctrl-C) and SIGTERM end the loop as a step limit does.
#pragma once

#include <csignal>
#include <cstdint>
#include <ctime>
#include <exception>
#include <mutex>
#include <string>
#include <utility>

#include <crochet/base/atomic.hpp>
#include <crochet/hook/phase.hpp>
#include <crochet/hook/stop_kind.hpp>
#include <crochet/session/signal_flag.hpp>

namespace crochet {

namespace detail {

/// Nanoseconds of a clock that only goes forward. Async-signal-safe.
inline std::int64_t signal_clock_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}
inline Atomic<std::int64_t (*)()> signal_clock{&signal_clock_ns};  ///< tests replace it
inline Atomic<std::int64_t> first_signal_ns{0};                    ///< 0: none, or its time is not stored yet

/// Whether a program has sent a signal to several of its targets, of which this process is more than one: the `timeout`
/// of coreutils sends it to its child, and then to the group of processes.
inline bool repeats_first_signal(int first, int number, int code) {
  if (first != number || (code != SI_USER && code != SI_QUEUE)) return false;
  const std::int64_t at = first_signal_ns.load();
  return at == 0 || signal_clock.load()() - at < 1'000'000'000;
}

/// Records the first signal. A second one, of either kind, kills the program, unless it repeats the first.
/// Async-signal-safe.
extern "C" inline void crochet_note_signal(int number, siginfo_t* info, void* /*context*/) {
  const int first = received_signal.exchange(number);
  if (first == 0) return first_signal_ns.store(signal_clock.load()());
  if (repeats_first_signal(first, number, info->si_code)) return;
  std::signal(number, SIG_DFL);
  std::raise(number);  // delivered when this handler returns
}

/// Handlers of SIGINT and SIGTERM while at least one of these objects is armed. A copy is not armed.
class SignalHandlers {
 public:
  SignalHandlers() = default;
  SignalHandlers(const SignalHandlers& /*other*/) {}
  SignalHandlers(SignalHandlers&& other) noexcept : armed_(std::exchange(other.armed_, false)) {}
  SignalHandlers& operator=(const SignalHandlers& /*other*/) { return *this; }
  SignalHandlers& operator=(SignalHandlers&& other) noexcept {
    std::swap(armed_, other.armed_);
    return *this;
  }
  ~SignalHandlers() { disarm(); }

  void arm() {
    if (std::exchange(armed_, true)) return;
    const std::lock_guard lock{shared().mutex};
    if (shared().armed++ > 0) return;
    struct sigaction note {};
    note.sa_sigaction = &crochet_note_signal;
    note.sa_flags = SA_RESTART | SA_SIGINFO;
    sigaction(SIGINT, &note, &shared().interrupt);
    sigaction(SIGTERM, &note, &shared().terminate);
  }
  void disarm() noexcept {
    if (!std::exchange(armed_, false)) return;
    const std::lock_guard lock{shared().mutex};
    if (--shared().armed > 0) return;
    sigaction(SIGINT, &shared().interrupt, nullptr);
    sigaction(SIGTERM, &shared().terminate, nullptr);
  }

 private:
  struct Shared {
    std::mutex mutex;
    int armed = 0;
    struct sigaction interrupt {};
    struct sigaction terminate {};
  };
  static Shared& shared() {
    static Shared all;
    return all;
  }

  bool armed_ = false;
};

}  // namespace detail

/// Ends the session's loop at SIGINT (Ctrl-C) or SIGTERM. The current step is finished, and every after_run and every
/// `end` is called, so a CheckpointSaver saves. A second signal, of either kind, kills the program.
/// The same signal that a program sends within 1 s of the first is not a second one: `timeout` sends it twice. Ctrl-C
/// twice is.
/// - Fires: begin installs the handlers of the two signals; end, on_error or destruction restores the previous ones.
/// - Waits of the library (for a session, a checkpoint, the global step, the pause before a recovery) end at once. A
///   wait that delays a run throws StopIteration or CancelledError.
/// - Fetches: nothing.
/// - Cost: one load per run.
/// - State: none in checkpoints. The signal is kept for the whole program, so that later sessions stop too.
/// - The stop is an interruption (StopKind): hooks make no evaluation at the end, as a later session resumes the
///   training.
/// - A program should return exit_code(): 0 without a signal, else 128 + its number (130 for SIGINT, 143 for SIGTERM),
///   as shells report a program killed by a signal.
/// - Handlers belong to the process: only the sessions of one thread need the hook.
struct StopOnSignal {
  using handles = Phases<phase::begin, phase::after_run, phase::end, phase::on_error>;

  detail::SignalHandlers handlers{};

  void begin() { handlers.arm(); }
  void after_run(auto& run, const auto& /*values*/) const {
    if (detail::received_signal.load() != 0) [[unlikely]] {
      run.request_stop(detail::name_of_signal(detail::received_signal.load()), StopKind::interruption);
    }
  }
  void end(auto& /*session*/) { handlers.disarm(); }
  void on_error(const std::exception_ptr& /*error*/) { handlers.disarm(); }

  /// The number of the received signal; 0 if there was none.
  [[nodiscard]] static int received() { return detail::received_signal.load(); }
  /// The exit status for `return` of main.
  [[nodiscard]] static int exit_code() { return received() == 0 ? 0 : 128 + received(); }
  /// Clears the signal, for a program that continues after it.
  static void forget() {
    detail::first_signal_ns.store(0);
    detail::received_signal.store(0);
  }
};

}  // namespace crochet
