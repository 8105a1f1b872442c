// SPDX-License-Identifier: Apache-2.0
// A step function without named state has nothing to save in a checkpoint.
// expect-error: this executor names no state to save; a StepExecutor does
#include <crochet/checkpoint/session_tensors.hpp>

void save(double& field) {
#ifdef CROCHET_FIXED
  crochet::StepExecutor step{[&](auto&) { field += 1; }, crochet::variable<"field">(field)};
#else
  crochet::StepExecutor step{[&](auto&) { field += 1; }};
#endif
  crochet::RawSession session{step};
  crochet::SessionTensors tensors;
  tensors.borrow(session, 0);
}
