// SPDX-License-Identifier: Apache-2.0
// StopSignal, CheckForStopping: several sessions that stop together.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include <crochet/base/config.hpp>
#include <crochet/hook/phase.hpp>

namespace crochet {

/// A stop that sessions on several threads share: the original's shared variable of early stopping. Copies are the same
/// signal. Once given it stays given; for new sessions make a new one. Any thread.
class StopSignal {
 public:
  StopSignal() : shared_(std::make_shared<Shared>()) {}

  /// The first reason is kept.
  CROCHET_COLD void request(std::string_view reason) const {
    const std::lock_guard lock(shared_->mutex);
    if (shared_->requested.load()) return;
    shared_->reason = reason;
    shared_->requested.store(true);
  }
  /// One load.
  [[nodiscard]] bool requested() const { return shared_->requested.load(std::memory_order_acquire); }
  /// Empty while nobody has asked.
  [[nodiscard]] std::string reason() const {
    const std::lock_guard lock(shared_->mutex);
    return shared_->reason;
  }

 private:
  struct Shared {
    std::atomic<bool> requested{false};
    std::mutex mutex;  // of reason
    std::string reason;
  };

  std::shared_ptr<Shared> shared_;
};

/// Asks to stop once the signal is given: for the sessions that do not decide themselves.
///   signal   -   a signal of its own   the one that the deciding session's hook was given
/// Fires: after each run; the decision is seen in the next run at the latest. Fetches: nothing. Cost: one load.
struct CheckForStopping {
  using handles = Phases<phase::after_run>;

  StopSignal signal{};

  void after_run(auto& run, const auto& /*values*/) const {
    if (signal.requested()) [[unlikely]] {
      run.request_stop(signal.reason());
    }
  }
};

}  // namespace crochet
