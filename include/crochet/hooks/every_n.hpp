// SPDX-License-Identifier: Apache-2.0
// EveryN<10, H>: calls the hook in the runs at the multiples of ten.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <crochet/hooks/kit/anchor.hpp>
#include <crochet/hooks/kit/cadence.hpp>
#include <crochet/hooks/kit/cadence_of.hpp>
#include <crochet/hooks/kit/decorated.hpp>
#include <crochet/hooks/kit/run_cadence.hpp>

namespace crochet {

/// Admits the runs that make a multiple of N, or the first of every N runs.
template <std::int64_t N>
struct EveryNthRun : PassOn<EveryNthRun<N>> {
  using phases = Phases<phase::begin, phase::after_run>;
  static constexpr std::string_view state_name = "EveryN";
  static constexpr bool decides_at_run_time = true;

  struct options {
    Anchor anchor = Anchor::global_step;
  };

  constexpr EveryNthRun() = default;
  constexpr explicit EveryNthRun(options how) : how_(how) {}

  constexpr void begin() { timer_ = {Cadence::every_steps(N, how_.anchor), how_.anchor == Anchor::first_run}; }
  [[nodiscard]] constexpr bool admits(auto& run) { return timer_.due_next(run.step(), no_clock); }
  constexpr void ran(auto& run, bool& admitted) {
    if (!timer_.ran(run.step())) admitted = false;  // fewer steps than predicted: a later run makes the multiple
    if (admitted) timer_.triggered(run.step(), 0);
  }
  [[nodiscard]] std::string cadence() const { return cadence_text({.steps = N}, how_.anchor); }

  void save_state(auto& out) const {
    out.put("since", timer_.position(N));
    out.put("stride", timer_.stride());
  }
  void load_state(auto& in) {
    std::int64_t since = 0, stride = 1;
    if (in.get("since", since)) timer_.seek(since, N);
    if (in.get("stride", stride)) timer_.set_stride(stride);
  }

 private:
  static constexpr auto no_clock = [] { return 0.0; };

  options how_{};
  RunCadence timer_{};
};

/// Calls before_run and after_run of H in the runs that make a multiple of N of the global step, and every other phase
/// always: `EveryN<10, Plateau>{{.patience = 3}}`.
/// - `EveryN<10, H>{{}, {.anchor = Anchor::first_run}}`: in runs 1, 1 + N, 1 + 2N, ... of those that EveryN itself
///   handles (inside an OnlyIn, the runs of that plan). The global step need not advance. The first run counts, so that
///   a faulty hook fails at once.
/// - Fetches: nothing for H in the other runs.
/// - A failed run does not consume the interval. Nor does one that makes fewer steps than the one before and so no
///   multiple (gradient accumulation, an evaluation): before_run of H is called in it, and after_run is not.
/// - State: the position within the N steps or runs.
/// - Cost: two comparisons per run.
template <std::int64_t N, class H>
struct EveryN : Decorated<H, EveryNthRun<N>> {
  static_assert(N > 0, "crochet: EveryN<N, Hook> needs N > 0");
  using Base = Decorated<H, EveryNthRun<N>>;
  using Base::Base;
};

}  // namespace crochet
