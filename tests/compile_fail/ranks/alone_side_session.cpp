// SPDX-License-Identifier: Apache-2.0
// expect-error: makes_a_run_of_all_ranks_on_one_rank<.*Tests.*OnRank<0, .*Tests
// at-most-bytes: 9000
// A hook on rank 0 has a side session, whose run fetches a loss of the whole batch.
#include <crochet/executor/cpu.hpp>
#include <crochet/session/side_session.hpp>

#include "alone.hpp"

struct Tests {
  static constexpr auto runs_on = cr::RunsOn::chief;
  void end(auto& session) {
    cr::HookChain<> no_hooks;
    cr::detail::side_session_of<decltype(session)> side(session);
#ifdef CROCHET_FIXED
    side.drive(no_hooks, 0, [](auto& runs) { runs.run(cr::fetches<"largest_weight">); });
#else
    side.drive(no_hooks, 0, [](auto& runs) { runs.run(cr::fetches<"loss">, some_row()); });
#endif
  }
};

void train(cr::testing::ThreadRank rank) {
  cr::MonitoredSession session{executor(rank), cr::HookChain{Tests{}}};
  session.close();
}
