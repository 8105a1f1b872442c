// SPDX-License-Identifier: Apache-2.0
// expect-error: makes_a_run_of_all_ranks_on_one_rank<.*Tests.*OnRank<0, .*Tests
// at-most-bytes: 9000
// A hook on rank 0 evaluates the loss when the session is created.
#include <crochet/executor/cpu.hpp>

#include "alone.hpp"

struct Tests {
  static constexpr auto runs_on = cr::RunsOn::chief;
  void after_create_session(auto& session, auto& /*coordinator*/) {
#ifdef CROCHET_FIXED
    session.run(cr::fetches<"largest_weight">);
#else
    session.run(cr::fetches<"loss">, some_row());
#endif
  }
};

void train(cr::testing::ThreadRank rank) {
  cr::MonitoredSession session{executor(rank), cr::HookChain{Tests{}}};
  session.close();
}
