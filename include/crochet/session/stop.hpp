// SPDX-License-Identifier: Apache-2.0
// A hook's wish to end the loop: who asked first and why.
#pragma once

#include <string>
#include <string_view>

#include <crochet/config.hpp>
#include <crochet/hook/type_name.hpp>

namespace crochet {

/// Why a session stops. Both empty while nobody asked; `reason` is empty when the hook gave none.
struct StopReason {
  std::string hook;
  std::string reason;
};

/// The request of a session's hooks. Requested at once; the session takes it over (latches it) after every after_run of
/// the run succeeded. A request outlives the run: if a later hook throws, the next run that succeeds latches it.
class StopState {
 public:
  [[nodiscard]] constexpr bool requested() const { return requested_; }
  [[nodiscard]] const StopReason& reason() const { return reason_; }

  /// The first request wins. `raw_hook` is a type name as the compiler spells it. Allocates; not for every step.
  CROCHET_COLD void request(std::string_view raw_hook, std::string_view reason) {
    if (requested_) return;
    requested_ = true;
    reason_.hook = detail::readable_type_name(raw_hook);
    reason_.reason = reason;
  }

 private:
  bool requested_ = false;
  StopReason reason_;
};

}  // namespace crochet
