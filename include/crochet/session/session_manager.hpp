// SPDX-License-Identifier: Apache-2.0
// SessionManager: prepares a new session: restores it, initializes it, or waits until another process has.
#pragma once

#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <crochet/base/diagnostics.hpp>
#include <crochet/base/error.hpp>
#include <crochet/base/same_folder.hpp>
#include <crochet/base/sleep_clock.hpp>
#include <crochet/session/coordinator.hpp>
#include <crochet/session/raw_session.hpp>
#include <crochet/session/scaffold.hpp>

namespace crochet {

/// The source of a session's initial values.
struct RestoreOptions {
  /// The folder whose latest checkpoint is restored, if it has one. Empty: the saver's folder, if it has one.
  std::string checkpoint_dir{};
  /// Or this checkpoint file. LogicError if both are given.
  std::string checkpoint_filename_with_path{};
  /// True: if there is no checkpoint yet, waits for one, at most about `max_wait_secs` seconds, and polls every
  /// WaitOptions::recovery_wait_secs seconds. After that time the session is initialized.
  bool wait_for_checkpoint = false;
  double max_wait_secs = 7200;
};

/// The polling interval of a SessionManager: `recovery_wait_secs` seconds.
struct WaitOptions {
  double recovery_wait_secs = 30;
  SleepClock clock{};
};

namespace detail {

inline std::string joined_names(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

/// A saver bound to one folder, like crochet::Saver.
template <class Saver>
concept HasDirectory = requires(Saver& saver) {
  saver.directory();
};

template <class Saver, class Session>
concept RestoresFile = requires(Saver& saver, Session& session, const std::string& path) {
  saver.restore(session, path);
};

/// Restores the latest checkpoint of the folder. Returns whether there was one.
template <class Saver, class Session>
bool restore_latest(Saver& saver, Session& session, const std::string& directory) {
  if constexpr (HasDirectory<Saver>) {
    using Path = std::remove_cvref_t<decltype(saver.directory())>;
    if (!directory.empty() && !same_folder(saver.directory(), Path(directory))) {
      throw LogicError("crochet: the saver's folder is not " + directory + "; leave checkpoint_dir empty");
    }
    return static_cast<bool>(saver.restore_latest(session));
  } else if constexpr (requires { static_cast<bool>(saver.restore_latest(session, directory)); }) {
    return static_cast<bool>(saver.restore_latest(session, directory));
  } else if constexpr (RestoresFile<Saver, Session> && requires { saver.latest_checkpoint(directory); }) {
    const std::string latest = saver.latest_checkpoint(directory);
    if (latest.empty()) return false;
    saver.restore(session, latest);
    if constexpr (requires { saver.recover_last_checkpoints(directory); }) saver.recover_last_checkpoints(directory);
    return true;
  } else {
    static_assert(sizeof(Saver) == 0,
                  "crochet: the saver of a scaffold cannot restore; session/scaffold.hpp lists how");
    return false;
  }
}

}  // namespace detail

/// Prepares a raw session before its first run, with the pieces of a scaffold. Every wait ends with CancelledError when
/// the coordinator should stop or the program receives a stop signal.
template <class S = Scaffold<>>
class SessionManager {
 public:
  explicit SessionManager(S scaffold = {}, WaitOptions waiting = {})
      : scaffold_(std::move(scaffold)), waiting_(waiting) {}

  [[nodiscard]] S& scaffold() { return scaffold_; }

  /// For the chief. Restores a checkpoint, or initializes if there is none; then runs local_init, in either case; then
  /// checks readiness. Throws FailedPreconditionError with the names of what is missing.
  template <class E>
  void prepare_session(RawSession<E>& session, const Coordinator& coordinator, const RestoreOptions& from = {}) {
    if (!restore(session, coordinator, from)) {
      report_new_beginning();
      scaffold_.initialize(session);
    }
    require(scaffold_.local_initialize(session), "is not ready for its local initialization");
    require(scaffold_.missing(session), "is not ready after it was initialized or restored");
  }

  /// Restores a checkpoint and never initializes; then runs local_init, also if nothing was restored. Returns whether a
  /// checkpoint was restored and the session is ready. Writes a line only if it was restored and is not ready. Throws
  /// CancelledError if a wait is stopped, LogicError if `from` has a folder and a file, and what the saver throws.
  template <class E>
  bool recover_session(RawSession<E>& session, const Coordinator& coordinator, const RestoreOptions& from) {
    const bool restored = restore(session, coordinator, from);
    std::vector<std::string> missing = scaffold_.local_initialize(session);
    if (!restored) return false;
    if (missing.empty()) missing = scaffold_.missing(session);
    if (!missing.empty()) diagnose("crochet: restored, but not ready: " + detail::joined_names(missing));
    return missing.empty();
  }

  /// For workers. Waits until the chief has made the session ready; runs only local_init. Throws DeadlineExceededError
  /// when another wait of `recovery_wait_secs` seconds would exceed `max_wait_secs`.
  template <class E>
  void wait_for_session(RawSession<E>& session, const Coordinator& coordinator, double max_wait_secs = 1e30) {
    const double end = waiting_.clock.now() + max_wait_secs;
    for (;;) {
      std::vector<std::string> missing = scaffold_.local_initialize(session);
      if (missing.empty()) missing = scaffold_.missing(session);
      if (missing.empty()) return;
      if (waiting_.clock.now() + waiting_.recovery_wait_secs > end) {
        throw DeadlineExceededError("crochet: the session was not ready in time; missing: " +
                                    detail::joined_names(missing));
      }
      pause(coordinator, "for a session that is ready; missing: " + detail::joined_names(missing));
    }
  }

 private:
  void report_new_beginning() {
    if constexpr (S::has_saver) {
      if constexpr (requires { scaffold_.saver().say_nothing_restored(); }) scaffold_.saver().say_nothing_restored();
    }
  }
  /// Returns whether a checkpoint was restored.
  template <class E>
  bool restore(RawSession<E>& session, const Coordinator& coordinator, const RestoreOptions& from) {
    if (!from.checkpoint_dir.empty() && !from.checkpoint_filename_with_path.empty()) {
      throw LogicError("crochet: restore from a folder (" + from.checkpoint_dir + ") or from a file (" +
                       from.checkpoint_filename_with_path + "), not from both");
    }
    if constexpr (S::has_saver) {
      using Saver = std::remove_reference_t<decltype(scaffold_.saver())>;
      if (!from.checkpoint_filename_with_path.empty()) {
        restore_file(session, from.checkpoint_filename_with_path);
        return true;
      }
      if (from.checkpoint_dir.empty() && !detail::HasDirectory<Saver>) return false;
      const double start = waiting_.clock.now();
      while (!detail::restore_latest(scaffold_.saver(), session, from.checkpoint_dir)) {
        if (!from.wait_for_checkpoint || waiting_.clock.now() - start >= from.max_wait_secs) return false;
        pause(coordinator, "for a checkpoint in " + from.checkpoint_dir);
      }
      return true;
    } else {
      return false;
    }
  }
  template <class E>
  void restore_file(RawSession<E>& session, const std::string& path) {
    if constexpr (detail::RestoresFile<std::remove_reference_t<decltype(scaffold_.saver())>, RawSession<E>>) {
      scaffold_.saver().restore(session, path);
    } else {
      throw LogicError("crochet: the scaffold's saver has no restore(session, path) for the file " + path);
    }
  }
  void require(const std::vector<std::string>& missing, const char* what) const {
    if (missing.empty()) return;
    throw FailedPreconditionError("crochet: the session " + std::string(what) +
                                  "; missing: " + detail::joined_names(missing));
  }
  void pause(const Coordinator& coordinator, const std::string& what) const {
    const auto over = [&] { return coordinator.should_stop(); };
    if (!waiting_.clock.sleep(waiting_.recovery_wait_secs, over)) {
      throw CancelledError("crochet: stop requested while waiting " + what);
    }
  }

  S scaffold_;
  WaitOptions waiting_;
};

}  // namespace crochet
