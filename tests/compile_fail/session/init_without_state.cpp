// SPDX-License-Identifier: Apache-2.0
// A step function without named state has no variable that a checkpoint could initialize.
// expect-error: this executor names no state to initialize; a StepExecutor does
#include <crochet/checkpoint/init_from_checkpoint.hpp>
#include <crochet/crochet.hpp>
#include <crochet/session/raw_session.hpp>

void start(double& field) {
#ifdef CROCHET_FIXED
  crochet::StepExecutor step{[&](auto&) { field += 1; }, crochet::variable<"field">(field)};
#else
  crochet::StepExecutor step{[&](auto&) { field += 1; }};
#endif
  crochet::RawSession session{step};
  crochet::InitFromCheckpoint{"weights"}(session);
}
