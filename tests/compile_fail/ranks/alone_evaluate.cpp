// SPDX-License-Identifier: Apache-2.0
// expect-error: makes_a_run_of_all_ranks_on_one_rank<.*Evaluate.*OnRank<0, .*Evaluate
// at-most-bytes: 26000
// Evaluate of a loss of the whole batch has to run on every rank.
#include <crochet/executor/cpu.hpp>
#include <crochet/hooks/evaluate.hpp>

#include <vector>

#include "alone.hpp"

void train(cr::testing::ThreadRank rank) {
  const std::vector<decltype(cr::feeds(some_row()))> rows{cr::feeds(some_row())};
  cr::Evaluate evaluate{cr::fetches<"loss">, rows, {.every_steps = 10}};
#ifdef CROCHET_FIXED
  cr::MonitoredSession session{executor(rank), cr::HookChain{std::move(evaluate)}};
#else
  cr::MonitoredSession session{executor(rank), cr::HookChain{cr::OnChief<decltype(evaluate)>{std::move(evaluate)}}};
#endif
  session.run("train"_n, some_row());
}
