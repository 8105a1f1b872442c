// SPDX-License-Identifier: Apache-2.0
// PhaseLog: what the hooks of a chain did in one run, and when. A hook that wants to show it has
// `PhaseLog* due_phase_log()`, which the session asks at the very start of a run, before any before_run: so the hook
// must know by then whether the coming run is due. If it gives a log, the before_run and after_run of every hook of
// this run are recorded there; if it gives nullptr the run costs one test more.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <crochet/hook/type_name.hpp>

namespace crochet {

/// One phase of one hook. Times are in seconds of the log's clock.
struct HookPhase {
  std::string hook;        ///< its type, as describe() shows it
  std::string_view phase;  ///< "before_run" or "after_run"
  double begin = 0, end = 0;
};

/// The phases of one run, in the order in which they began. One thread at a time. Recording allocates.
class PhaseLog {
 public:
  /// `clock` returns seconds and never goes backwards: a `Clock` (base/clock.hpp), in tests a testing::ManualClock.
  /// Give the same one to the probe, and hooks and steps have one time line.
  explicit PhaseLog(std::function<double()> clock) : clock_(std::move(clock)) {}

  [[nodiscard]] std::span<const HookPhase> phases() const { return phases_; }
  /// Whether one of them is going on.
  [[nodiscard]] bool busy() const { return open_ > 0; }
  /// Forgets them; a session does so before it records a run.
  void clear() { phases_.clear(); }

  /// Records a phase from here to the end of the scope, also of one that throws.
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
  /// For the hook H.
  template <class H>
  [[nodiscard]] Scope record(std::string_view phase) {
    return Scope(*this, detail::type_name<H>(), phase);
  }

 private:
  std::function<double()> clock_;
  std::vector<HookPhase> phases_;
  int open_ = 0;
};

}  // namespace crochet
