// SPDX-License-Identifier: Apache-2.0
// EveryN<10, H>: the hook sees every tenth run.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <crochet/hooks/decorated.hpp>

namespace crochet {

/// Admits the first of every N runs. Counts the runs that succeeded since `begin`.
template <std::int64_t N>
struct EveryNthRun : PassOn<EveryNthRun<N>> {
  using phases = Phases<phase::begin, phase::after_run>;
  static constexpr std::string_view state_name = "EveryN";
  static constexpr bool decides_at_run_time = true;

  constexpr void begin() { since_ = 0; }
  [[nodiscard]] constexpr bool admits(auto&) const { return since_ == 0; }
  constexpr void ran(bool /*admitted*/) { since_ = since_ + 1 == N ? 0 : since_ + 1; }
  [[nodiscard]] std::string cadence() const { return "every " + std::to_string(N) + " runs"; }

  void save_state(auto& out) const { out.put("since", since_); }
  void load_state(auto& in) {
    in.get("since", since_);
    since_ %= N;  // it may have been another N
  }

 private:
  std::int64_t since_ = 0;
};

/// H sees before_run and after_run in the runs 1, 1 + N, 1 + 2N, ... of those that EveryN itself sees, and all its
/// other phases. In the runs between nothing is fetched for it. The first run counts, so that a hook that cannot do its
/// work says so at once. A run that fails does not use up the hook's turn. Counted are runs, not global steps: inside
/// an OnlyIn the runs of that plan, outside all runs. Where in the N runs
/// it stands is saved and restored with the session. Cost: one counter. `EveryN<10, Plateau>{{.patience = 3}}`.
template <std::int64_t N, class H>
struct EveryN : Decorated<H, EveryNthRun<N>> {
  static_assert(N > 0, "crochet: EveryN<N, Hook> needs N > 0");
  using Base = Decorated<H, EveryNthRun<N>>;
  using Base::Base;
};

}  // namespace crochet
