// SPDX-License-Identifier: Apache-2.0
// Switched<H>: a hook that an option of the program takes part or leaves out.
#pragma once

#include <crochet/hooks/kit/decorated.hpp>

namespace crochet {

/// Passes phases on, or none of them.
template <class H>
struct OnOrOff : PassOn<OnOrOff<H>> {
  static constexpr bool decides_at_run_time = true;

  struct options {
    bool on = true;
  };

  OnOrOff() = default;
  explicit OnOrOff(options how) : on_(how.on) {}

  [[nodiscard]] bool on() const { return on_; }
  [[nodiscard]] bool admits(auto&) const { return on_; }
  template <class Phase, class Call>
  void around(Call&& call) {
    if (on_) call();
  }

 private:
  bool on_ = true;
};

/// `Switched<StepCounter>{{.every_steps = 100}, {.on = verbose}}`: switched off, the hook sees no phase at all (its
/// extend_graph excepted: the graph is a matter of the compiler). When<condition, H> is for what the type or a function
/// knows. Cost: one test a run; H's request becomes conditional (session/demand.hpp).
template <class H>
struct Switched : Decorated<H, OnOrOff<H>> {
  using Base = Decorated<H, OnOrOff<H>>;
  using Base::Base;
};

}  // namespace crochet
