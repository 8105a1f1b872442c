// SPDX-License-Identifier: Apache-2.0
// expect-error: hook_is_usable<0, crochet::error::states_a_probe_but_has_no_due_probe<Profiles>
// A hook that states a probe and has no due_probe().
#include <crochet/crochet.hpp>
#include <crochet/graph/probe/probe.hpp>

using namespace crochet::literals;

struct Probe {
  void on_run_begin(const crochet::ProbedRun&) {}
};
struct Profiles {
  using probe = Probe;
  Probe mine;
  void begin() {}
#ifdef CROCHET_FIXED
  Probe* due_probe() { return &mine; }
#endif
};

void train() {
  crochet::StepExecutor step{[](auto& out) { out["loss"_n] = 0.5F; }, crochet::output<float, "loss">};
  crochet::MonitoredSession session{std::move(step), crochet::HookChain{Profiles{}}};
  session.run();
}
