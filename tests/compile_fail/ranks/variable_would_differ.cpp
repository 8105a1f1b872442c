// SPDX-License-Identifier: Apache-2.0
// expect-error: this_variable_would_differ_between_ranks<.*('l', 'a'|largest)
// A variable gets a value that each rank computes from its own rows.
#include <crochet/executor/cpu.hpp>
#include <crochet/ranks/parallel.hpp>
#include <crochet/testing/thread_ranks.hpp>

struct Model {
  static constexpr void define(crochet::GraphBuilder& g) {
    const auto x = g.placeholder<float>("x", {g.dynamic("batch"), 3});
    const auto largest = g.variable<float>("largest", {}, crochet::zeros(), false);
#ifdef CROCHET_FIXED
    g.name("train", g.assign(largest, crochet::mean_over_ranks(crochet::reduce_max(x))));
#else
    g.name("train", g.assign(largest, crochet::reduce_max(x)));
#endif
  }
};

auto compile(crochet::testing::ThreadRank rank) { return crochet::Parallel{crochet::Cpu{}, rank}.compile<Model>(); }
