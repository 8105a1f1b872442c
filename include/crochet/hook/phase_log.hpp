// SPDX-License-Identifier: Apache-2.0
// PhaseLog: the phases of a chain's hooks in one run, with their times. A hook that displays them has `PhaseLog*
// due_phase_log()`. The session calls it at the start of a run, before any before_run; the hook must decide there
// whether the run is due. If it returns a log, the before_run and after_run of every hook of this run are recorded. If
// it returns nullptr, the run costs one test more.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <crochet/base/clock.hpp>
#include <crochet/hook/type_name.hpp>

namespace crochet {

/// One phase of one hook. Times are in seconds of the log's clock.
struct HookPhase {
  std::string hook;        ///< its type, as describe() prints it
  std::string_view phase;  ///< "before_run" or "after_run"
  double begin = 0, end = 0;
};

/// The phases of one run, in the order in which they began. One thread at a time. Recording allocates.
class PhaseLog {
 public:
  /// `clock` returns seconds and is monotonic: a `Clock` (base/clock.hpp), in tests a testing::ManualClock. Use the
  /// same clock for the probe; hooks and steps then share one time line.
  explicit PhaseLog(Clock clock) : clock_(std::move(clock)) {}

  [[nodiscard]] std::span<const HookPhase> phases() const { return phases_; }
  /// Whether a recording is in progress.
  [[nodiscard]] bool busy() const { return open_ > 0; }
  /// Removes all phases. A session calls it before it records a run.
  void clear() { phases_.clear(); }

  /// Records a phase from construction to the end of the scope, even if the phase throws.
  class Scope {
   public:
    Scope(PhaseLog& log, std::string hook, std::string_view phase) : log_(log), index_(log.phases_.size()) {
      log_.phases_.push_back({std::move(hook), phase, 0, 0});
      log_.phases_[index_].begin = log_.clock_();
      ++log_.open_;
    }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;
    ~Scope() {
      log_.phases_[index_].end = log_.clock_();
      --log_.open_;
    }

   private:
    PhaseLog& log_;
    std::size_t index_;
  };
  /// Starts the recording of a phase of hook H.
  template <class H>
  [[nodiscard]] Scope record(std::string_view phase) {
    return Scope(*this, detail::type_name<H>(), phase);
  }

 private:
  Clock clock_;
  std::vector<HookPhase> phases_;
  int open_ = 0;
};

}  // namespace crochet
