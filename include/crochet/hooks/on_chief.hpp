// SPDX-License-Identifier: Apache-2.0
// OnChief<H>, OnRank<R, H>, OnEveryRank<H>: a hook on one rank, or on each of them, of a session on several ranks.
#pragma once

#include <string>
#include <string_view>

#include <crochet/hook/runs_on.hpp>
#include <crochet/hook/state_key.hpp>
#include <crochet/hooks/kit/decorated.hpp>

namespace crochet {

template <int R, class H>
struct OnRank;

/// Calls the hook on rank R only. A session on one machine is rank 0.
template <int R, class H>
struct OfRank : PassOn<OfRank<R, H>> {
  static constexpr bool decides_at_run_time = true;
  using rank_guard = OnRank<R, H>;

  /// For sessions: the rank of this one, before its hooks' begin.
  constexpr void join_ranks(int rank, int /*size*/) { here_ = rank == R; }

  constexpr bool admits(auto&) const { return here_; }
  template <class Phase, class Call>
  constexpr void around(Call&& call) {
    if (here_) call();
  }
  template <class Call>
  constexpr void requesting(Call&& call) {
    if (here_) call();
  }
  [[nodiscard]] std::string cadence() const { return "on rank " + std::to_string(R); }

 private:
  bool here_ = R == 0;
};

/// Calls H on rank R only.
/// - All ranks compute what it fetches, so that they run the same plan. Its saved state is that of the chief.
/// - H must not make runs that exchange, which all ranks have to make: a compile error.
/// - On one machine it is rank 0: H itself for R = 0, and nothing for another R.
/// - Cost: a bool, and the request of H becomes conditional: one more plan (session/demand.hpp).
/// - TensorFlow passes `chief_only_hooks` to MonitoredTrainingSession instead.
template <int R, class H>
struct OnRank : Decorated<H, OfRank<R, H>> {
  using Base = Decorated<H, OfRank<R, H>>;
  using Base::Base;
  static constexpr auto runs_on = RunsOn::all;  // the decorator does; H does on one of them
  void mute() = delete;                         // H writes its lines where it runs
};

/// Calls H on rank 0 only. A session on several ranks does so with each hook that states RunsOn::chief.
/// - Its saved state has the key of H, so that a training may move from one machine to several ranks.
template <class H>
struct OnChief : OnRank<0, H> {
  using OnRank<0, H>::OnRank;
  static constexpr std::string_view state_key = state_key_of<H>();
};

/// Calls H on every rank, also if H states RunsOn::chief: for a hook whose file has the rank in its name. Hooks that
/// would write their lines on rank 0 only write them on each rank.
template <class H>
struct OnEveryRank : Decorated<H, PassOn<OnEveryRank<H>>> {
  using Base = Decorated<H, PassOn<OnEveryRank<H>>>;
  using Base::Base;
  static constexpr auto runs_on = RunsOn::all;
  void mute() = delete;  // each rank writes
};

}  // namespace crochet
