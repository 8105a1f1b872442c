// SPDX-License-Identifier: Apache-2.0
// expect-error: makes_a_run_of_all_ranks_on_one_rank<.*OnRank<0, .*EveryN<10.*Tests
// at-most-bytes: 9000
// OnChief around another decorator: the run of the hook inside is on one rank, too.
#include <crochet/executor/cpu.hpp>

#include "alone.hpp"

struct Tests {
  void after_run(auto& run, const auto& /*values*/) { run.session().run(cr::fetches<"loss">, some_row()); }
};

void train(cr::testing::ThreadRank rank) {
#ifdef CROCHET_FIXED
  cr::MonitoredSession session{executor(rank), cr::HookChain{cr::EveryN<10, Tests>{}}};
#else
  cr::MonitoredSession session{executor(rank), cr::HookChain{cr::OnChief<cr::EveryN<10, Tests>>{}}};
#endif
  session.run("train"_n, some_row());
}
