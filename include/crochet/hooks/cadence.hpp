// SPDX-License-Identifier: Apache-2.0
// Cadence: when something that a hook does now and then is due. Every hook with `.every_steps` or `.every_seconds` has
// one.
//
// It is the original's SecondOrStepTimer with three of its rules put right. The clock is steady, not the wall clock.
// When the step goes backwards (an older checkpoint was restored), the cadence starts over: the original stays silent
// until the old step is reached again, or reports negative steps. And whether the first moment counts is said by
// whoever makes the cadence: a log line wants to show at once that all is well; a rate has nothing to say before an
// interval has passed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <crochet/config.hpp>
#include <crochet/error.hpp>
#include <crochet/hook/type_name.hpp>

namespace crochet {

/// Due every N steps, every S seconds, or never. Asking costs a comparison; in seconds also one reading of the clock.
class Cadence {
 public:
  enum class First : bool {
    at_once,        ///< due at the first step it is asked about: steps 1, 1 + N, 1 + 2N, ...
    after_interval  ///< the first question, or start(), begins an interval
  };
  /// What lies between two triggers.
  struct Elapsed {
    double seconds;
    std::int64_t steps;
  };

  /// Never due.
  constexpr Cadence() = default;
  /// Due when `steps` steps have passed since the last trigger; `steps` > 0 is required.
  static constexpr Cadence every_steps(std::int64_t steps, First first = First::at_once) {
    return {Unit::steps, first, steps, 0};
  }
  /// Due when `seconds` have passed and the step is another one; `seconds` >= 0 is required.
  static constexpr Cadence every_seconds(double seconds, First first = First::at_once) {
    return {Unit::seconds, first, 0, seconds};
  }

  /// Begins an interval here, as if it had triggered.
  constexpr void start(std::int64_t step, double now) {
    last_step_ = step;
    last_time_ = now;
    started_ = true;
  }

  /// Is it due at this step? Stays due until triggered(). Never twice for one step.
  template <class Clock>
  constexpr bool due(std::int64_t step, const Clock& clock) {
    if (unit_ == Unit::never) return false;
    if (!started_ || step < last_step_) return start_over(step, clock);
    if (unit_ == Unit::steps) return step - last_step_ >= steps_;
    return step != last_step_ && clock() - last_time_ >= seconds_;
  }

  /// The step of the last trigger or start(); nothing before.
  [[nodiscard]] constexpr std::optional<std::int64_t> last_step() const {
    return started_ ? std::optional{last_step_} : std::nullopt;
  }

  /// Notes that what was due is done. Returns the distance from the last time; nothing the first time, after the step
  /// went backwards, and when it is never due.
  constexpr std::optional<Elapsed> triggered(std::int64_t step, double now) {
    std::optional<Elapsed> elapsed;
    if (started_ && step >= last_step_ && unit_ != Unit::never) elapsed = Elapsed{now - last_time_, step - last_step_};
    start(step, now);
    return elapsed;
  }

  /// Whether an interval has begun.
  [[nodiscard]] constexpr bool started() const { return started_; }
  /// Begins an interval here unless one is going on already, loaded from a checkpoint or begun before a recovery.
  constexpr void start_unless_running(std::int64_t step, double now) {
    if (!started_ || step < last_step_) start(step, now);
  }

  /// Where in its interval it stands, for a hook's save_state: times are saved as what has passed, since clocks begin
  /// anew. The time between save and load does not count.
  template <class Out>
  void save_state(Out& out, double now) const {
    out.put("cadence.started", started_);
    out.put("cadence.step", last_step_);
    out.put("cadence.seconds", started_ ? now - last_time_ : 0.0);
  }
  template <class In>
  void load_state(In& in, double now) {
    double seconds = 0;
    in.get("cadence.started", started_);
    in.get("cadence.step", last_step_);
    if (in.get("cadence.seconds", seconds)) last_time_ = now - seconds;
  }

 private:
  enum class Unit : unsigned char { never, steps, seconds };

  constexpr Cadence(Unit unit, First first, std::int64_t steps, double seconds)
      : steps_(steps), seconds_(seconds), unit_(unit), first_(first) {}

  template <class Clock>
  CROCHET_COLD constexpr bool start_over(std::int64_t step, const Clock& clock) {
    if (first_ == First::at_once) return true;
    start(step, clock());
    return false;
  }

  std::int64_t steps_ = 0;
  double seconds_ = 0;
  std::int64_t last_step_ = 0;
  double last_time_ = 0;
  Unit unit_ = Unit::never;
  First first_ = First::at_once;
  bool started_ = false;
};

/// The two settings of a hook that does something now and then. In words: "every 100 steps".
inline std::string cadence_text(const std::optional<std::int64_t>& every_steps,
                                const std::optional<double>& every_seconds) {
  if (every_steps) return *every_steps == 1 ? "every step" : "every " + std::to_string(*every_steps) + " steps";
  if (!every_seconds) return "";
  std::string seconds = std::to_string(*every_seconds);
  seconds.erase(seconds.find_last_not_of('0') + 1);
  if (seconds.back() == '.') seconds.pop_back();
  return "every " + seconds + " s";
}

/// What a hook calls the two settings.
struct CadenceNames {
  std::string_view steps = "every_steps", seconds = "every_seconds";
};

/// The cadence that hook H was set to. Throws LogicError unless at most one of the settings is given and in range:
/// steps above 0, seconds not below 0. Neither gives a cadence that is never due.
template <class H>
CROCHET_COLD Cadence cadence_of(const std::optional<std::int64_t>& every_steps,
                                const std::optional<double>& every_seconds,
                                Cadence::First first = Cadence::First::at_once, const CadenceNames& names = {}) {
  const std::string steps(names.steps), seconds(names.seconds);
  const auto refuse = [](const std::string& why) {
    throw LogicError("crochet: " + detail::type_name<H>() + ": " + why);
  };
  if (every_steps && every_seconds) refuse("both " + steps + " and " + seconds + " are set; keep exactly one of them");
  if (every_steps && *every_steps <= 0) {
    refuse("invalid " + steps + " = " + std::to_string(*every_steps) + "; it has to be above 0");
  }
  if (every_seconds && !(*every_seconds >= 0)) {
    refuse("invalid " + seconds + " = " + std::to_string(*every_seconds) + "; it must not be below 0");
  }
  if (every_steps) return Cadence::every_steps(*every_steps, first);
  return every_seconds ? Cadence::every_seconds(*every_seconds, first) : Cadence{};
}

/// The same for a hook that needs one of the two: throws LogicError also when neither is given.
template <class H>
CROCHET_COLD Cadence required_cadence_of(const std::optional<std::int64_t>& every_steps,
                                         const std::optional<double>& every_seconds,
                                         Cadence::First first = Cadence::First::at_once,
                                         const CadenceNames& names = {}) {
  if (!every_steps && !every_seconds) {
    throw LogicError("crochet: " + detail::type_name<H>() + ": set exactly one of " + std::string(names.steps) +
                     " and " + std::string(names.seconds));
  }
  return cadence_of<H>(every_steps, every_seconds, first, names);
}

}  // namespace crochet
