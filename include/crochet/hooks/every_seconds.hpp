// SPDX-License-Identifier: Apache-2.0
// EverySeconds<60, H>: calls the hook at most once a minute.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include <crochet/base/clock.hpp>
#include <crochet/hooks/kit/cadence.hpp>
#include <crochet/hooks/kit/decorated.hpp>
#include <crochet/hooks/kit/load_count.hpp>

namespace crochet {

/// Admits the first run, and then the first one after each interval.
template <std::int64_t Seconds>
struct FirstRunAfterSeconds : PassOn<FirstRunAfterSeconds<Seconds>> {
  using phases = Phases<phase::begin, phase::after_run>;
  static constexpr std::string_view state_name = "EverySeconds";
  static constexpr bool decides_at_run_time = true;

  struct options {
    Clock clock{};
  };

  FirstRunAfterSeconds() = default;
  explicit FirstRunAfterSeconds(options how) : how_(std::move(how)) {}

  void begin() {
    timer_ = Cadence::every_seconds(static_cast<double>(Seconds));
    runs_ = 0;
  }
  [[nodiscard]] bool admits(auto&) { return timer_.due(runs_, how_.clock); }
  void ran(auto& /*run*/, bool admitted) {
    if (admitted) timer_.triggered(runs_, how_.clock());
    ++runs_;
  }
  [[nodiscard]] std::string cadence() const { return "every " + std::to_string(Seconds) + " s"; }

  void save_state(auto& out) const {
    timer_.save_state(out, how_.clock());
    out.put("runs", runs_);
  }
  void load_state(auto& in) {
    timer_.load_state(in, how_.clock());
    detail::load_count(in, "runs", runs_);
  }

 private:
  options how_;
  Cadence timer_;
  std::int64_t runs_ = 0;
};

/// Calls before_run and after_run of H in the first run, then in the first run that begins `Seconds` or more after the
/// last admitted one, and every other phase always: `EverySeconds<60, Snapshot<"temperature">>{{"out/"}}`.
/// - `EverySeconds<60, H>{{}, {.clock = my_clock}}`: with another clock.
/// - Fetches: nothing for H in the other runs.
/// - State: the elapsed part of the interval.
/// - Cost: one clock reading per run.
template <std::int64_t Seconds, class H>
struct EverySeconds : Decorated<H, FirstRunAfterSeconds<Seconds>> {
  static_assert(Seconds > 0, "crochet: EverySeconds<S, Hook> needs S > 0");
  using Base = Decorated<H, FirstRunAfterSeconds<Seconds>>;
  using Base::Base;
};

}  // namespace crochet
