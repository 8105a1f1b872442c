// SPDX-License-Identifier: Apache-2.0
// expect-error: u is const, so a checkpoint could not be restored into it
// A variable of a step function is restored from checkpoints, so it is not const.
#include <crochet/crochet.hpp>

#include <vector>

void solve() {
#ifdef CROCHET_FIXED
  std::vector<double> u(10);
#else
  const std::vector<double> u(10);
#endif
  crochet::StepExecutor step{[](auto&) {}, crochet::variable<"u">(u)};
  crochet::MonitoredSession session{step};
  crochet::run_session(session, [](auto& s) { s.run(); });
}
