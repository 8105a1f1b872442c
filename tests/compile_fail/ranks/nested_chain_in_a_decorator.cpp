// SPDX-License-Identifier: Apache-2.0
// expect-error: on several ranks write OnChief<H> for the hooks of a nested chain that run on rank 0
// at-most-bytes: 12000
// A decorator passes its evaluator on as it is, so that the session does not place the hooks of its passes.
#include <crochet/executor/cpu.hpp>
#include <crochet/hooks/every_n.hpp>
#include <crochet/hooks/in_memory_evaluator.hpp>
#include <crochet/hooks/logging_tensor.hpp>

#include <vector>

#include "alone.hpp"

void train(cr::testing::ThreadRank rank) {
  using Log = cr::LoggingTensor<"loss">;
#ifdef CROCHET_FIXED
  using Passes = cr::HookChain<cr::OnChief<Log>>;
#else
  using Passes = cr::HookChain<Log>;
#endif
  using Rows = std::vector<decltype(cr::feeds(some_row()))>;
  using Evaluator = cr::InMemoryEvaluator<cr::Fetches<cr::Name<"loss">>, Rows, Passes>;
  Evaluator evaluator{cr::fetches<"loss">, Rows{cr::feeds(some_row())}, Passes{}, {.every_steps = 10}};
  cr::MonitoredSession session{executor(rank), cr::HookChain{cr::EveryN<2, Evaluator>{std::move(evaluator)}}};
  session.run("train"_n, some_row());
}
