// SPDX-License-Identifier: Apache-2.0
// Coordinator: how threads that belong to a session tell each other to stop.
#pragma once

#include <string>
#include <string_view>

#include <crochet/config.hpp>
#include <crochet/session/atomic.hpp>

namespace crochet {

/// Lets anybody, on any thread, end the loop of a session. Hooks get it in after_create_session.
/// Room is left here for the threads themselves: registering, joining with a grace period, collecting their exceptions.
class Coordinator {
 public:
  Coordinator() = default;
  Coordinator(const Coordinator&) = delete;
  Coordinator& operator=(const Coordinator&) = delete;

  /// Asks the session's loop to end. The first request's reason is kept. Any thread; no lock.
  CROCHET_COLD void request_stop(std::string_view reason = {}) {
    if (claimed_.exchange(true)) return;
    reason_ = reason;
    stop_.store(true);
  }

  /// Whether anybody asked. Any thread; one load.
  [[nodiscard]] bool should_stop() const { return stop_.load(); }

  /// Why; empty until should_stop().
  [[nodiscard]] std::string_view reason() const {
    return should_stop() ? std::string_view{reason_} : std::string_view{};
  }

 private:
  detail::Atomic<bool> claimed_{false};  // by the thread that writes reason_
  detail::Atomic<bool> stop_{false};     // reason_ is complete
  std::string reason_;
};

}  // namespace crochet
