// SPDX-License-Identifier: Apache-2.0
// expect-error: makes_a_run_of_all_ranks_on_one_rank<.*Tests.*OnRank<1, .*Tests
// at-most-bytes: 9000
// OnRank calls a hook on rank 1 only, inside another decorator, and the hook evaluates the loss.
#include <crochet/executor/cpu.hpp>

#include "alone.hpp"

struct Tests {
  void after_run(auto& run, const auto& /*values*/) { run.session().run(cr::fetches<"loss">, some_row()); }
};

void train(cr::testing::ThreadRank rank) {
#ifdef CROCHET_FIXED
  cr::MonitoredSession session{executor(rank), cr::HookChain{cr::EveryN<10, cr::OnEveryRank<Tests>>{}}};
#else
  cr::MonitoredSession session{executor(rank), cr::HookChain{cr::EveryN<10, cr::OnRank<1, Tests>>{}}};
#endif
  session.run("train"_n, some_row());
}
