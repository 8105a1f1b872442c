// SPDX-License-Identifier: Apache-2.0
// expect-error: makes_a_run_of_all_ranks_on_one_rank<.*Tests.*OnRank<0, .*Tests
// at-most-bytes: 9000
// A hook on rank 0 makes a training step of its own before each run.
#include <crochet/executor/cpu.hpp>

#include "alone.hpp"

struct Tests {
  static constexpr auto runs_on = cr::RunsOn::chief;
  cr::RunArgs<> before_run(auto& run) {
#ifndef CROCHET_FIXED
    run.session().run("train"_n, some_row());
#endif
    return {};
  }
};

void train(cr::testing::ThreadRank rank) {
  cr::MonitoredSession session{executor(rank), cr::HookChain{Tests{}}};
  session.run("train"_n, some_row());
}
