// SPDX-License-Identifier: Apache-2.0
// A step function without named state has nothing to restore: one error, though the session restores, too.
// expect-error: this executor names no state to restore; a StepExecutor does
// at-most-bytes: 7000
#include <crochet/checkpoint/saver.hpp>
#include <crochet/crochet.hpp>
#include <crochet/executor/step/step_executor.hpp>

void train(double& field, crochet::Saver<>& saver) {
#ifdef CROCHET_FIXED
  crochet::StepExecutor step{[&](auto&) { field += 1; }, crochet::variable<"field">(field)};
#else
  crochet::StepExecutor step{[&](auto&) { field += 1; }};
#endif
  crochet::MonitoredSession session{step, crochet::HookChain<>{}, crochet::restore_latest(saver)};
  session.run();
}
