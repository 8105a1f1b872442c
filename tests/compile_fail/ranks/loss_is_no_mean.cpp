// SPDX-License-Identifier: Apache-2.0
// expect-error: loss_is_no_mean_or_sum_over_the_batch
// The loss of the whole batch does not follow from those of the ranks.
#include <crochet/executor/cpu.hpp>
#include <crochet/ranks/parallel.hpp>
#include <crochet/testing/thread_ranks.hpp>

struct Model {
  static constexpr void define(crochet::GraphBuilder& g) {
    const auto x = g.placeholder<float>("x", {g.dynamic("batch"), 3});
    const auto w = g.variable<float>("w", {3, 1}, crochet::ones());
    const auto losses = crochet::square(crochet::matmul(x, w));
#ifdef CROCHET_FIXED
    g.name("train", crochet::minimize(crochet::reduce_mean(losses), crochet::SGD{}));
#else
    g.name("train", crochet::minimize(crochet::reduce_max(losses), crochet::SGD{}));
#endif
  }
};

auto compile(crochet::testing::ThreadRank rank) { return crochet::Parallel{crochet::Cpu{}, rank}.compile<Model>(); }
