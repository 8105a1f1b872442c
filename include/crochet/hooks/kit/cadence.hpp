// SPDX-License-Identifier: Apache-2.0
// Cadence: when an action at an interval is due. Every hook with `.every_steps`, `.every_seconds` or `.every_epochs`
// has one.
//
// Differences from TensorFlow's SecondOrStepTimer:
// - Steps are multiples of N of the global step, unless Anchor::first_run is set.
// - The clock is steady, not the wall clock.
// - When the step goes backwards (an older checkpoint was restored), the cadence starts over. TensorFlow's timer is
//   silent until the old step is reached again, or reports negative steps.
// - First selects whether an interval in seconds ends with the first step or begins there.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>

#include <crochet/base/config.hpp>
#include <crochet/base/error.hpp>
#include <crochet/hooks/kit/anchor.hpp>

namespace crochet {

/// A run or a session, which has a global step.
template <class T>
concept HasStep = requires(const T& at) {
  { at.step() } -> std::convertible_to<std::int64_t>;
};

/// Due every N steps, every S seconds, every N epochs, or never.
/// - When a run makes several steps and passes a multiple of N, the cadence is due once, at the step after that run.
/// - A hook that acts after runs calls due(step) in after_run, and triggered() when it has acted.
/// - A hook that decides before the run, because it fetches, calls due_next(step) in before_run and ran(step) in
///   after_run.
/// - Epochs: hooks pass the run or the session in place of its step. Due in the run that takes the last batch of an
///   epoch whose number is a multiple of N. When a run passes several epochs, it is due once.
/// - Cost of a test: a subtraction and a comparison; in seconds also a clock reading, in epochs a reading of the data's
///   position.
class Cadence {
 public:
  /// No session makes as many steps. Sums of two such numbers do not overflow.
  static constexpr std::int64_t most_steps = std::numeric_limits<std::int64_t>::max() / 4;

  enum class First : bool {
    at_once,        ///< due at the first step
    after_interval  ///< the first test, or start(), begins an interval
  };
  /// The distance between two triggers.
  struct Elapsed {
    double seconds;
    std::int64_t steps;
  };

  /// Never due.
  constexpr Cadence() = default;
  /// Due every `steps` steps; `steps` > 0 is required.
  static constexpr Cadence every_steps(std::int64_t steps, Anchor anchor = Anchor::global_step) {
    return {Unit::steps, anchor, First::at_once, steps, 0};
  }
  /// Due when `seconds` have passed and the step has changed; `seconds` >= 0 is required.
  static constexpr Cadence every_seconds(double seconds, First first = First::at_once) {
    return {Unit::seconds, Anchor::global_step, first, 0, seconds};
  }
  /// Due every `epochs` epochs; `epochs` > 0 is required. The session needs data that count epochs.
  static constexpr Cadence every_epochs(std::int64_t epochs) {
    return {Unit::epochs, Anchor::global_step, First::after_interval, epochs, 0};
  }

  /// Whether it is due at `step`, the step after the last run. Stays due until triggered(). Never twice for one step.
  template <class Clock>
  constexpr bool due(std::int64_t step, const Clock& clock) {
    if (passed(step) < length_) [[likely]] {
      return false;
    }
    return decide(step - 1, step, step, clock);
  }
  /// The same for the last run.
  template <HasStep Run, class Clock>
  constexpr bool due(const Run& run, const Clock& clock) {
    const std::int64_t step = run.step();
    if (passed(step) < length_) [[likely]] {
      return false;
    }
    if constexpr (counts_epochs<Run>) {
      if (unit_ == Unit::epochs) return epochs_are_over(run.epoch());
    }
    return decide(step - 1, step, step, clock);
  }
  /// Whether it is due in the run that begins at `step`. Predicts that the run makes as many steps as the last one, 1
  /// in the first run of a training; ran() corrects the prediction.
  template <class Clock>
  constexpr bool due_next(std::int64_t step, const Clock& clock) {
    expected_ = step + stride_;
    if (passed(expected_) < length_) [[likely]] {
      return false;
    }
    return decide(step, expected_, step, clock);
  }
  /// The same for the run that begins.
  template <HasStep Run, class Clock>
  constexpr bool due_next(const Run& run, const Clock& clock) {
    if constexpr (counts_epochs<Run>) {
      if (unit_ == Unit::epochs) return epochs_are_over(expected_ = run.epoch());
    }
    return due_next(run.step(), clock);
  }
  /// Records the step after the run of due_next(). False if the run has made fewer steps than predicted and did not
  /// reach the due step, which stays due.
  constexpr bool ran(std::int64_t step) {
    if (step == expected_) [[likely]] {
      return true;
    }
    stride_ = std::max<std::int64_t>(1, step - (expected_ - stride_));
    if (unit_ != Unit::steps) return true;
    if (passed(step) < length_) return false;
    decided_ = step;  // triggered() begins the next window here
    return true;
  }

  /// The same for the run itself. Throws LogicError if the batch of the run was taken after due_next(), which was then
  /// too early to decide.
  template <HasStep Run>
  constexpr bool ran(const Run& run) {
    if constexpr (counts_epochs<Run>) {
      if (unit_ == Unit::epochs) {
        if (run.epoch() != expected_) [[unlikely]] {
          fail_too_early();
        }
        return true;
      }
    }
    return ran(run.step());
  }

  /// Begins an interval here: the next due step is the next multiple, or with Anchor::first_run N steps later.
  constexpr void start(std::int64_t step, double now) {
    last_step_ = step;
    if (unit_ != Unit::epochs) decided_ = step;
    last_time_ = now;
    started_ = true;
    begin_window(step);
  }
  /// The same for the session itself.
  template <HasStep Session>
  constexpr void start(const Session& session, double now) {
    start(session.step(), now);
    if constexpr (counts_epochs<Session>) {
      if (unit_ == Unit::epochs) begin_ = decided_ = session.epoch();
    }
  }
  /// Call when a session begins at `step`. Continues an interval that was loaded or that began before a recovery.
  /// Otherwise begins one here, unless the first run is always due.
  constexpr void session_begins(std::int64_t step, double now) {
    const bool at_once = unit_ == Unit::steps ? anchor_ == Anchor::first_run : first_ == First::at_once;
    if (!at_once) start_unless_running(step, now);
  }
  /// The same for the session itself.
  template <HasStep Session>
  constexpr void session_begins(const Session& session, double now) {
    if constexpr (counts_epochs<Session>) {
      if (unit_ == Unit::epochs) return epochs_begin(session, now);
    }
    session_begins(session.step(), now);
  }
  /// Call when a session begins, for a hook whose first interval in steps or seconds begins with its first run.
  template <HasStep Session>
  constexpr void epochs_begin(const Session& session, double now) {
    if constexpr (counts_epochs<Session>) {
      if (unit_ != Unit::epochs) return;
      if (started_ && session.epoch() >= begin_ && session.step() >= last_step_) return;
      start(session, now);
    }
  }
  /// Begins an interval here unless one is running: loaded from a checkpoint, or begun before a recovery.
  constexpr void start_unless_running(std::int64_t step, double now) {
    if (!started_ || step < last_step_) {
      start(step, now);
    } else if (length_ == 0 || step < begin_) {
      begin_window(step);
    }
  }
  template <HasStep Session>
  constexpr void start_unless_running(const Session& session, double now) {
    if (unit_ == Unit::epochs) return epochs_begin(session, now);
    start_unless_running(session.step(), now);
  }
  /// Resets to the initial state.
  constexpr void reset() { *this = Cadence(unit_, anchor_, first_, steps_, seconds_); }

  /// The step of the last trigger or start(); empty before.
  [[nodiscard]] constexpr std::optional<std::int64_t> last_step() const {
    return started_ ? std::optional{last_step_} : std::nullopt;
  }

  /// Records that the action is done. Returns the distance from the last trigger; empty the first time, after the step
  /// went backwards, and for a cadence that is never due.
  constexpr std::optional<Elapsed> triggered(std::int64_t step, double now) {
    std::optional<Elapsed> elapsed;
    if (started_ && step >= last_step_ && unit_ != Unit::never) elapsed = Elapsed{now - last_time_, step - last_step_};
    const std::int64_t decided = decided_;  // a run with fewer steps than predicted still counts as due
    start(step, now);
    if (decided > step) begin_window(decided);
    if (unit_ == Unit::epochs) begin_ = decided;
    return elapsed;
  }

  /// The next due step of a cadence in steps; 0 before an interval has begun.
  [[nodiscard]] constexpr std::int64_t next_step() const { return length_ == 0 ? 0 : begin_ + steps_; }
  /// Due next at `step`, with Anchor::global_step at the first multiple from there.
  constexpr void wait_until(std::int64_t step) {
    begin_window(anchor_ == Anchor::global_step ? step - 1 : step - steps_);
  }
  /// Steps that the next run is predicted to make; for a hook that saves its position itself.
  [[nodiscard]] constexpr std::int64_t stride() const { return stride_; }
  constexpr void set_stride(std::int64_t steps) { stride_ = std::clamp<std::int64_t>(steps, 1, most_steps); }
  /// Whether an interval has begun.
  [[nodiscard]] constexpr bool started() const { return started_; }

  /// Saves the position in the interval, for a hook's save_state. Times are saved as elapsed times, since clocks
  /// restart. The time between save and load does not count. Multiples of the global step need no state, except one
  /// that was passed before the checkpoint and is still due. Values of a checkpoint that no session reaches become the
  /// nearest ones: nothing overflows, and an interval in seconds ends.
  template <class Out>
  void save_state(Out& out, double now) const {
    out.put("cadence.started", started_ && unit_ != Unit::never);  // never: the hook is off
    out.put("cadence.step", last_step_);
    out.put("cadence.seconds", started_ ? now - last_time_ : 0.0);
    if (unit_ == Unit::epochs) out.put("cadence.epoch", begin_);
    out.put("cadence.stride", stride_);
  }
  template <class In>
  void load_state(In& in, double now) {
    double seconds = 0;
    in.get("cadence.started", started_);
    if (in.get("cadence.step", last_step_)) last_step_ = std::clamp(last_step_, -most_steps, most_steps);
    if (in.get("cadence.seconds", seconds)) last_time_ = now - (seconds > 0 ? seconds : 0);
    if (in.get("cadence.stride", stride_)) set_stride(stride_);
    if (unit_ == Unit::epochs) {
      started_ = in.get("cadence.epoch", begin_) && started_;
      decided_ = begin_;
    } else if (started_) {
      begin_window(last_step_);
    } else if (unit_ == Unit::steps) {
      length_ = 0;  // no interval had begun
    }
  }

 private:
  enum class Unit : unsigned char { never, steps, seconds, epochs };
  template <class T>
  static constexpr bool counts_epochs = requires(const T& at) {
    at.epoch();
  };
  static constexpr std::uint64_t never = std::numeric_limits<std::uint64_t>::max();

  constexpr Cadence(Unit unit, Anchor anchor, First first, std::int64_t steps, double seconds)
      : length_(unit == Unit::never ? never : 0),
        steps_(steps),
        seconds_(seconds),
        unit_(unit),
        anchor_(anchor),
        first_(first) {}

  /// Steps since the window's begin; a huge number before it, so that one comparison tests both ends.
  [[nodiscard]] constexpr std::uint64_t passed(std::int64_t step) const {
    return static_cast<std::uint64_t>(step) - static_cast<std::uint64_t>(begin_);
  }
  /// Begins a window of N steps without a due step, at `step` or at the multiple before it.
  constexpr void begin_window(std::int64_t step) {
    if (unit_ != Unit::steps) return;
    begin_ = anchor_ == Anchor::global_step ? step / steps_ * steps_ : step;
    length_ = static_cast<std::uint64_t>(steps_);
  }

  /// Whether it is due in a run from step `from` to step `to`, at least one of which is outside the window. `now` is
  /// the step of the test.
  template <class Clock>
  constexpr bool decide(std::int64_t from, std::int64_t to, std::int64_t now, const Clock& clock) {
    if (unit_ == Unit::never || unit_ == Unit::epochs) return false;
    const bool due = unit_ == Unit::seconds ? seconds_are_over(to, clock) : steps_are_over(from, to, now, clock);
    if (due) decided_ = to;
    return due;
  }
  constexpr bool epochs_are_over(std::int64_t epoch) {
    if (epoch < begin_) begin_ = epoch;  // the data began anew
    const bool due = epoch / steps_ > begin_ / steps_;
    decided_ = due ? epoch : begin_;
    return due;
  }
  [[noreturn]] CROCHET_COLD static void fail_too_early() {
    throw LogicError(
        "crochet: the last batch of an epoch was taken after a hook with .every_epochs had decided what to fetch; put "
        "the hook that takes the batch (FeedFn) in front of it");
  }
  template <class Clock>
  constexpr bool seconds_are_over(std::int64_t step, const Clock& clock) {
    if (started_ && step >= last_step_) return step != last_step_ && clock() - last_time_ >= seconds_;
    if (first_ == First::at_once) return true;
    start(step, clock());
    return false;
  }
  template <class Clock>
  CROCHET_COLD constexpr bool steps_are_over(std::int64_t from, std::int64_t to, std::int64_t now, const Clock& clock) {
    if (length_ != 0 && to >= begin_) return true;
    if (anchor_ == Anchor::first_run) return true;
    begin_window(from);  // the first test, or the step went backwards
    if (passed(to) >= length_) return true;
    if (!started_ || now < last_step_) start(now, clock());
    return false;
  }

  // A cadence in epochs has epochs in begin_, expected_, steps_ and decided_: other members would cost each hook bytes.
  std::int64_t begin_ = 0;        // of the window without a due step; the epoch of the last trigger
  std::uint64_t length_ = never;  // of the window, in steps; 0: no window
  std::int64_t expected_ = 0;     // the step after the run, as predicted by due_next(); the epoch that it has read
  std::int64_t stride_ = 1;       // steps of a run
  std::int64_t steps_ = 0;        // steps or epochs of an interval
  double seconds_ = 0;
  std::int64_t last_step_ = 0;
  double last_time_ = 0;
  std::int64_t decided_ = 0;  // the step or epoch for which it was due last
  Unit unit_ = Unit::never;
  Anchor anchor_ = Anchor::global_step;
  First first_ = First::at_once;
  bool started_ = false;
};

}  // namespace crochet
