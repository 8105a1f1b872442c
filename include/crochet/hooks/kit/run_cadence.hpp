// SPDX-License-Identifier: Apache-2.0
// RunCadence: a Cadence that decides before the run, and counts runs unless it counts multiples.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include <crochet/hooks/kit/anchor.hpp>
#include <crochet/hooks/kit/cadence.hpp>
#include <crochet/hooks/kit/load_count.hpp>

namespace crochet {

/// With Anchor::global_step and an interval in steps: a Cadence of the global step. With Anchor::first_run, or an
/// interval in seconds: a Cadence of the hook's successful runs, as TensorFlow's LoggingTensorHook counts. Runs that do
/// not advance the global step, as in an evaluation, count too.
class RunCadence {
 public:
  constexpr RunCadence() = default;
  constexpr RunCadence(Cadence cadence, bool counts_runs) : cadence_(cadence), counts_runs_(counts_runs) {}

  /// In before_run: whether it is due in the run that begins.
  template <class Clock>
  constexpr bool due_next(std::int64_t step, const Clock& clock) {
    return cadence_.due_next(counts_runs_ ? runs_ - 1 : step, clock);
  }
  /// In after_run, before triggered(): see Cadence::ran.
  constexpr bool ran(std::int64_t step) {
    ++runs_;
    return cadence_.ran(counts_runs_ ? runs_ - 1 : step);
  }
  /// The same two for the run itself, which epochs need.
  template <HasStep Run, class Clock>
  constexpr bool due_next(const Run& run, const Clock& clock) {
    return counts_runs_ ? cadence_.due_next(runs_ - 1, clock) : cadence_.due_next(run, clock);
  }
  template <HasStep Run>
  constexpr bool ran(const Run& run) {
    ++runs_;
    return counts_runs_ ? cadence_.ran(runs_ - 1) : cadence_.ran(run);
  }
  /// See Cadence::epochs_begin.
  template <HasStep Session>
  constexpr void epochs_begin(const Session& session, double now) {
    cadence_.epochs_begin(session, now);
  }
  /// See Cadence::triggered.
  constexpr std::optional<Cadence::Elapsed> triggered(std::int64_t step, double now) {
    return cadence_.triggered(counts_runs_ ? runs_ - 1 : step, now);
  }
  /// Number of runs so far, including those before a resume.
  [[nodiscard]] constexpr std::int64_t runs() const { return runs_; }
  /// Position for the state of a cadence in steps: the next due step, or the number of runs in the current interval; 0
  /// at the beginning.
  [[nodiscard]] constexpr std::int64_t position(std::int64_t interval) const {
    if (!counts_runs_) return cadence_.next_step();
    return cadence_.next_step() == 0 ? 0 : (runs_ + interval - cadence_.next_step()) % interval;
  }
  /// See Cadence::stride.
  [[nodiscard]] constexpr std::int64_t stride() const { return cadence_.stride(); }
  constexpr void set_stride(std::int64_t steps) { cadence_.set_stride(steps); }
  /// Continues from a position(). The stride is 1 until set_stride(). A position that no session has becomes the
  /// nearest one.
  constexpr void seek(std::int64_t position, std::int64_t interval) {
    cadence_.reset();  // in a recovery: the window of the lost session
    position = std::clamp<std::int64_t>(position, 0, Cadence::most_steps);
    if (counts_runs_) {
      runs_ = 0;
      if (position % interval != 0) cadence_.start(-(position % interval), 0);
    } else if (position >= interval) {  // smaller: saved by a version that counted runs
      cadence_.wait_until(position);
    }
  }

  template <class Out>
  void save_state(Out& out, double now) const {
    cadence_.save_state(out, now);
    out.put("runs", runs_);
  }
  template <class In>
  void load_state(In& in, double now) {
    cadence_.load_state(in, now);
    detail::load_count(in, "runs", runs_);
  }

 private:
  Cadence cadence_{};
  std::int64_t runs_ = 0;
  bool counts_runs_ = false;
};

}  // namespace crochet
