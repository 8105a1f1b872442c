// SPDX-License-Identifier: Apache-2.0
// StopSignal, CheckForStopping: a common stop of several sessions.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include <crochet/base/config.hpp>
#include <crochet/hook/phase.hpp>

namespace crochet {

/// A stop request shared by sessions on several threads, in place of TensorFlow's shared early-stopping variable.
/// Copies share one signal. It cannot be reset; new sessions need a new one. Thread-safe.
class StopSignal {
 public:
  StopSignal() : shared_(std::make_shared<Shared>()) {}

  /// Keeps the first reason.
  CROCHET_COLD void request(std::string_view reason) const {
    const std::lock_guard lock(shared_->mutex);
    if (shared_->requested.load()) return;
    shared_->reason = reason;
    shared_->requested.store(true);
  }
  /// Cost: one load.
  [[nodiscard]] bool requested() const { return shared_->requested.load(std::memory_order_acquire); }
  /// Empty before a request.
  [[nodiscard]] std::string reason() const {
    const std::lock_guard lock(shared_->mutex);
    return shared_->reason;
  }

 private:
  struct Shared {
    std::atomic<bool> requested{false};
    std::mutex mutex;  // guards reason
    std::string reason;
  };

  std::shared_ptr<Shared> shared_;
};

/// Requests a stop once the signal is set, for the sessions that do not decide themselves.
///   signal   -   a signal of its own   the one of the deciding session's hook
/// - Fires: after each run; a decision takes effect in the next run at the latest.
/// - Fetches: nothing.
/// - Cost: one load.
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
