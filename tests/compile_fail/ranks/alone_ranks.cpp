// SPDX-License-Identifier: Apache-2.0
// expect-error: no member named .ranks
// at-most-bytes: 9000
// A hook on rank 0 uses what the ranks have in common: the executor of its session does not have it.
#include <crochet/executor/cpu.hpp>

#include "alone.hpp"

struct Tests {
  static constexpr auto runs_on = cr::RunsOn::chief;
  void after_run(auto& run, const auto& /*values*/) {
    auto& executor = run.session().executor();
#ifdef CROCHET_FIXED
    (void)executor.global_step();
#else
    executor.ranks().any_of(1);
#endif
  }
};

void train(cr::testing::ThreadRank rank) {
  cr::MonitoredSession session{executor(rank), cr::HookChain{Tests{}}};
  session.run("train"_n, some_row());
}
