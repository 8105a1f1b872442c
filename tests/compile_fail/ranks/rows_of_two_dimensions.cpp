// SPDX-License-Identifier: Apache-2.0
// expect-error: call_is_usable<crochet::error::the_rows_of_this_placeholder_are_another_dimension<.*("?unlabelled|'u', 'n', 'l')
// A step with labelled and unlabelled rows: ranks divide one dimension.
#include <crochet/crochet.hpp>
#include <crochet/executor/cpu.hpp>
#include <crochet/ranks/parallel.hpp>
#include <crochet/testing/thread_ranks.hpp>

#include <array>

struct Model {
  static constexpr void define(crochet::GraphBuilder& g) {
    const auto labelled = g.placeholder<float>("labelled", {g.dynamic("batch")});
#ifdef CROCHET_FIXED
    const auto unlabelled = g.placeholder<float>("unlabelled", {g.dynamic("batch"), g.dynamic("length"), 2});
#else
    const auto unlabelled = g.placeholder<float>("unlabelled", {g.dynamic("more"), g.dynamic("length"), 2});
#endif
    const auto w = g.variable<float>("w", {2, 1}, crochet::ones());
    const auto tokens = crochet::reshape(unlabelled, {crochet::rest, 2});  // of all rows
    const auto loss = reduce_mean(labelled * reduce_sum(w)) + reduce_mean(matmul(tokens, w));
    g.name("train", crochet::minimize(loss, crochet::SGD{}));
  }
};

void train(crochet::testing::ThreadRank rank) {
  using namespace crochet::literals;
  const std::array<float, 8> x{};
  const crochet::TensorView<float, 3> view{x.data(), {2, 2, 2}};
  auto executor = crochet::Parallel{crochet::Cpu{}, rank}.compile<Model>();
  crochet::MonitoredSession session{executor, crochet::HookChain{}};
  session.run("train"_n, crochet::feed<"labelled">(std::span(x).first(2)), crochet::feed<"unlabelled">(view));
}
