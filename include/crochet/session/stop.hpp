// SPDX-License-Identifier: Apache-2.0
// A wish to end the loop: who asked first and why.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <crochet/base/config.hpp>
#include <crochet/base/message.hpp>
#include <crochet/hook/stop_kind.hpp>
#include <crochet/hook/type_name.hpp>

namespace crochet {

/// Why a session stops. Texts are empty while nobody asked; `reason` is empty when none was given.
struct StopReason {
  std::string hook;       ///< who asked: the hook's type, the name of a thread, "the caller", "the data"
  std::string reason;     ///< why
  std::int64_t step = 0;  ///< the global step at the end; 0 while the session is open
  StopKind kind = StopKind::end;
};

/// "StopAtStep: reached step 2000"; empty while nobody asked.
[[nodiscard]] CROCHET_COLD inline std::string to_string(const StopReason& why) {
  return why.reason.empty() ? why.hook : detail::message({why.hook, ": ", why.reason});
}

/// The request of a session's hooks. The session latches it, and its loop ends, when the run is over: after the
/// after_run of every hook, or when the run failed and its error reaches the caller. A run that is repeated after a
/// recovery is not over; the request outlives the recovery.
class StopState {
 public:
  [[nodiscard]] constexpr bool requested() const { return requested_; }
  [[nodiscard]] const StopReason& reason() const { return reason_; }
  [[nodiscard]] bool has_reason() const { return !reason_.hook.empty(); }

  /// The first request wins; one that ends the training replaces an interruption. `raw_hook` is a type name as the
  /// compiler spells it. Allocates; not for every step.
  CROCHET_COLD void request(std::string_view raw_hook, std::string_view reason) {
    if (requested_ && !interrupted()) return;
    if (requested_) reason_ = {};
    requested_ = true;
    note(detail::readable_type_name(raw_hook), reason);
  }
  /// The same for an interruption. A function of its own: a request in a step passes no further argument.
  CROCHET_COLD void interrupt(std::string_view raw_hook, std::string_view reason) {
    if (requested_) return;
    requested_ = true;
    note(detail::readable_type_name(raw_hook), reason, StopKind::interruption);
  }
  /// Keeps who ended the loop in another way, unless a reason is known. Makes no request.
  CROCHET_COLD void note(std::string_view who, std::string_view reason, StopKind kind = StopKind::end) {
    if (has_reason()) return;
    reason_.hook = who;
    reason_.reason = reason;
    reason_.kind = kind;
  }
  [[nodiscard]] bool interrupted() const { return reason_.kind == StopKind::interruption; }
  void at_step(std::int64_t step) { reason_.step = step; }

  /// How often in a row the run at hand has failed before.
  [[nodiscard]] constexpr int failures() const { return failures_; }
  void count_failure() { ++failures_; }
  void forget_failures() { failures_ = 0; }

 private:
  bool requested_ = false;
  int failures_ = 0;
  StopReason reason_;
};

}  // namespace crochet
