// SPDX-License-Identifier: Apache-2.0
// expect-error: hook_is_usable<1, crochet::error::states_a_probe_but_this_executor_takes_none<Profiles>
// A hook with a probe on an executor that takes no probes; the executor of the corrected program takes them.
#include "../hooks/toy.hpp"

#include <crochet/graph/probe/probe.hpp>

struct Probe {
  void on_run_begin(const crochet::ProbedRun&) {}
};
struct Profiles {
  using probe = Probe;
  Probe mine;
  void begin() {}
  Probe* due_probe() { return &mine; }
};

void train() {
#ifdef CROCHET_FIXED
  crochet::StepExecutor step{[](auto& out) { out["loss"_n] = 0.5F; }, crochet::output<float, "loss">};
  crochet::MonitoredSession session{std::move(step), crochet::HookChain{Counter{}, Profiles{}}};
  session.run();
#else
  crochet::MonitoredSession session{Toy{}, crochet::HookChain{Counter{}, Profiles{}}};
  session.run("train"_n);
#endif
}
