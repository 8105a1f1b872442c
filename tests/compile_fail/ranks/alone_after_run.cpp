// SPDX-License-Identifier: Apache-2.0
// expect-error: makes_a_run_of_all_ranks_on_one_rank<.*Tests.*OnRank<0, .*Tests
// at-most-bytes: 9000
// A hook on rank 0 evaluates the loss of the whole batch by itself: its rank would wait for the others.
#include <crochet/executor/cpu.hpp>

#include "alone.hpp"

struct Tests {
  static constexpr auto runs_on = cr::RunsOn::chief;
  void after_run(auto& run, const auto& /*values*/) {
#ifdef CROCHET_FIXED
    run.session().run(cr::fetches<"largest_weight">);
#else
    run.session().run(cr::fetches<"loss">, some_row());
#endif
  }
};

void train(cr::testing::ThreadRank rank) {
  cr::MonitoredSession session{executor(rank), cr::HookChain{Tests{}}};
  session.run("train"_n, some_row());
}
