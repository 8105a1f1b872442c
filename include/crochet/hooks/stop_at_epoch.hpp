// SPDX-License-Identifier: Apache-2.0
// StopAtEpoch: ends the loop after a number of epochs.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>

#include <crochet/base/config.hpp>
#include <crochet/base/error.hpp>
#include <crochet/hook/phase.hpp>

namespace crochet {

/// Ends the loop after whole epochs of the data: `StopAtEpoch{.last_epoch = 10}`.
///   last_epoch  epochs  unset   exactly one of the two, not negative; else begin throws LogicError
///   num_epochs  epochs  unset   counted from the epoch at which the session is created
/// - Fires: after the run with the last batch of that epoch; before the first run if the epoch is already reached.
/// - Fetches: nothing.
/// - Cost: a reading of the data's position per run.
/// - State: none; the target is kept over a recovery.
/// - Throws: LogicError from session creation if the session has no data that counts epochs (CheckpointInputPipeline,
///   SessionOptions::epochs).
/// - TensorFlow has no such hook; num_epochs of its input pipelines ends the data.
struct StopAtEpoch {
  using handles = Phases<phase::begin, phase::after_create_session, phase::after_run>;

  std::optional<std::int64_t> last_epoch{};
  std::optional<std::int64_t> num_epochs{};
  /// The epoch at which it stops; set when the session is created. With num_epochs it survives recovery.
  std::int64_t target = -1;

  void begin() {
    check();
    target = last_epoch.value_or(-1);
  }
  void after_create_session(auto& session, auto& coordinator) {
    const std::int64_t epoch = session.epoch();
    if (target < 0) target = epoch + std::min(*num_epochs, std::numeric_limits<std::int64_t>::max() - epoch);
    if (epoch >= target) coordinator.request_stop(reason(), "StopAtEpoch");
  }
  void after_run(auto& run, const auto& /*values*/) const {
    if (run.epoch() >= target) [[unlikely]] {
      run.request_stop(reason());
    }
  }

  [[nodiscard]] std::string cadence() const {
    return last_epoch ? "at epoch " + std::to_string(*last_epoch)
                      : "after " + std::to_string(num_epochs.value_or(0)) + " epochs";
  }

 private:
  CROCHET_COLD void check() const {
    if (last_epoch.has_value() == num_epochs.has_value())
      throw LogicError("crochet: StopAtEpoch: set exactly one of last_epoch and num_epochs");
    const std::int64_t given = last_epoch ? *last_epoch : *num_epochs;
    if (given >= 0) return;
    throw LogicError(std::string("crochet: StopAtEpoch: invalid ") + (last_epoch ? "last_epoch" : "num_epochs") +
                     " = " + std::to_string(given) + "; it must not be negative");
  }
  [[nodiscard]] CROCHET_COLD std::string reason() const { return "epoch " + std::to_string(target) + " was completed"; }
};

}  // namespace crochet
