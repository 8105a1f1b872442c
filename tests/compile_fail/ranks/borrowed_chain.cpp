// SPDX-License-Identifier: Apache-2.0
// expect-error: on several ranks pass the chain by value
// A borrowed chain with a hook that runs on rank 0: the session cannot place it.
#include <crochet/crochet.hpp>
#include <crochet/executor/cpu.hpp>
#include <crochet/hooks/logging_tensor.hpp>
#include <crochet/hooks/on_chief.hpp>
#include <crochet/hooks/stop_at_step.hpp>
#include <crochet/ranks/parallel.hpp>
#include <crochet/testing/thread_ranks.hpp>

namespace cr = crochet;

struct Model {
  static constexpr void define(cr::GraphBuilder& g) {
    const auto x = g.placeholder<float>("x", {g.dynamic("batch"), 3});
    const auto w = g.variable<float>("w", {3, 1}, cr::ones());
    const auto loss = g.name("loss", cr::reduce_mean(cr::square(cr::matmul(x, w))));
    g.name("train", cr::minimize(loss, cr::SGD{}));
  }
};

void train(cr::testing::ThreadRank rank) {
#ifdef CROCHET_FIXED
  cr::HookChain chain{cr::StopAtStep{.last_step = 3}, cr::OnChief<cr::LoggingTensor<"loss">>{}};
#else
  cr::HookChain chain{cr::StopAtStep{.last_step = 3}, cr::LoggingTensor<"loss">{}};
#endif
  using Executor = decltype(cr::Parallel{cr::Cpu{}, rank}.compile<Model>());
  cr::MonitoredSession<Executor, decltype(chain)&> session{cr::Parallel{cr::Cpu{}, rank}.compile<Model>(), chain};
  session.close();
}
