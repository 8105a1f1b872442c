// SPDX-License-Identifier: Apache-2.0
// Switched<H>: a hook that an option of the program switches on or off.
#pragma once

#include <crochet/hooks/kit/decorated.hpp>

namespace crochet {

/// Calls all phases, or none.
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

/// `Switched<StepCounter>{{.every_steps = 100}, {.on = verbose}}`: off, no phase of the hook is called except
/// extend_graph, since the graph is fixed at compile time, and save_state and load_state, so that checkpoints keep the
/// hook's state; what of it depends on options that begin reads, such as every_epochs, starts anew.
/// - When<condition, H> is for a condition that is a constant or a function.
/// - Cost: one test per run; H's request becomes conditional (session/demand.hpp).
template <class H>
struct Switched : Decorated<H, OnOrOff<H>> {
  using Base = Decorated<H, OnOrOff<H>>;
  using Base::Base;
};

}  // namespace crochet
