// SPDX-License-Identifier: Apache-2.0
// An error in the steps of one rank's run, behind the roll call: the other ranks are in the exchanges of the run.
#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>
#include <string_view>
#include <vector>

#include <crochet/crochet.hpp>
#include <crochet/executor/cpu.hpp>
#include <crochet/ranks/parallel.hpp>
#include <crochet/testing/thread_ranks.hpp>

namespace ranks_step_errors_test {

thread_local bool has_memory = true;

constexpr crochet::TypedShape infer(const crochet::OpInputs& in) { return in[0]; }
constexpr void gradient(crochet::GradientScope& s) { s.give(0, s.upstream()); }
inline constexpr crochet::Op needs_memory{"needs_memory", crochet::OpKind::elementwise, infer, gradient};

}  // namespace ranks_step_errors_test

template <>
struct crochet::Elementwise<&ranks_step_errors_test::needs_memory> {
  template <class T, class V>
  static V apply(const V& a) {
    if (!ranks_step_errors_test::has_memory) throw crochet::ResourceExhaustedError("no memory for scratch");
    return a;
  }
};

namespace ranks_step_errors_test {

namespace cr = crochet;
using namespace cr::literals;

struct Model {
  static constexpr void define(cr::GraphBuilder& g) {
    const auto x = g.placeholder<float>("x", {g.dynamic("batch"), 3});
    const auto w = g.variable<float>("w", {3, 1}, cr::ones());
    const auto y = cr::square(cr::matmul(x, w));
    const auto loss = g.name("loss", cr::reduce_mean(y.graph->apply(needs_memory, y)));
    g.name("train", cr::minimize(loss, cr::SGD{0.01}));
  }
};

/// Ends the process, as MPI_Abort does.
struct Process : cr::testing::ThreadRank {
  [[noreturn]] static void abort(std::string_view reason) {
    std::cerr << reason << '\n';
    std::_Exit(3);
  }
};

/// Two ranks, of which rank 1 has no memory in its second step. Options: of Parallel.
template <class Options>
void train(const Options& options) {
  cr::testing::run_ranks(2, [&](cr::testing::ThreadRank me) {
    std::vector<float> rows{1, 2, 3};
    const auto x = cr::feed<"x">(cr::TensorView<float, 2>{rows.data(), {1, 3}});
    cr::MonitoredSession session{cr::Parallel{cr::Cpu{.threads = 1}, Process{me}, options}.template compile<Model>()};
    cr::run_session(session, [&](auto& s) {
      s.run(cr::fetches<"loss">, cr::targets<"train">, x);
      has_memory = me.rank() != 1;
      s.run(cr::fetches<"loss">, cr::targets<"train">, x);
    });
  });
}

TEST(ErrorsInARanksStep, EndAllRanks) {
  EXPECT_EXIT(train(cr::BlockingExchange{}), testing::ExitedWithCode(3), "no memory for scratch");
  EXPECT_EXIT(train(cr::ParallelOptions{.shards = 2}), testing::ExitedWithCode(3), "no memory for scratch");
}

}  // namespace ranks_step_errors_test
