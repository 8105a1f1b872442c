// SPDX-License-Identifier: Apache-2.0
// The request to end a loop: the first source and its reason.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <crochet/base/config.hpp>
#include <crochet/base/message.hpp>
#include <crochet/hook/stop_kind.hpp>

namespace crochet {

/// The reason why a session stops. Texts are empty before a request; `reason` is empty if none was given.
struct StopReason {
  std::string hook;       ///< the source: the hook's type, the name of a thread, "the caller", "the data"
  std::string reason;     ///< the reason
  std::int64_t step = 0;  ///< the global step at the end; 0 while the session is open, and after an error
  StopKind kind = StopKind::end;
};

/// "StopAtStep: step 2000 was reached"; empty before a request.
[[nodiscard]] CROCHET_COLD inline std::string to_string(const StopReason& why) {
  return why.reason.empty() ? why.hook : detail::message({why.hook, ": ", why.reason});
}

/// A stop of a run that the executor has reported when the session is closed. Texts as in StopReason; empty: none.
struct LateStop {
  std::string hook, reason;
  bool is_earlier = false;  ///< the run was not the last one
};

/// The stop request of a session's hooks. The session latches it when the run is over, and its loop ends. A run is over
/// after the after_run of every hook, or when its error reaches the caller. A run that is repeated after a recovery is
/// not over; the request survives the recovery.
class StopState {
 public:
  [[nodiscard]] constexpr bool requested() const { return requested_; }
  [[nodiscard]] const StopReason& reason() const { return reason_; }
  [[nodiscard]] bool has_reason() const { return !reason_.hook.empty(); }

  /// The first request is kept; a request that ends the training replaces an interruption. `hook` is the name
  /// of its type. Allocates; not for every step.
  CROCHET_COLD void request(std::string_view hook, std::string_view reason) {
    if (requested_ && !interrupted()) return;
    if (requested_) reason_ = {};
    requested_ = true;
    note(hook, reason);
  }
  /// Requests an interruption. A separate function, so that a request in a step passes no further argument.
  CROCHET_COLD void interrupt(std::string_view hook, std::string_view reason) {
    if (requested_) return;
    requested_ = true;
    note(hook, reason, StopKind::interruption);
  }
  /// Records the source of another end of the loop, unless a reason is already recorded. Makes no request.
  CROCHET_COLD void note(std::string_view who, std::string_view reason, StopKind kind = StopKind::end) {
    if (has_reason()) return;
    reason_.hook = who;
    reason_.reason = reason;
    reason_.kind = kind;
  }
  /// Records the reason of a run that was reported late; it replaces that of a later run. Keeps the step.
  CROCHET_COLD void note_late(const LateStop& late) {
    if (late.hook.empty() || (has_reason() && !late.is_earlier)) return;
    reason_ = {late.hook, late.reason, reason_.step, StopKind::end};
  }
  [[nodiscard]] bool interrupted() const { return reason_.kind == StopKind::interruption; }
  void at_step(std::int64_t step) { reason_.step = step; }

  /// The number of consecutive failures of the current run.
  [[nodiscard]] constexpr int failures() const { return failures_; }
  void count_failure() { ++failures_; }
  void forget_failures() { failures_ = 0; }

 private:
  bool requested_ = false;
  int failures_ = 0;
  StopReason reason_;
};

}  // namespace crochet
