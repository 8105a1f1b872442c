// SPDX-License-Identifier: Apache-2.0
// Where the steps of a plan begin and end its exchanges.
#include <crochet/graph/passes/order_by_exchanges.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include <crochet/executor/cpu.hpp>
#include <crochet/executor/plan/describe.hpp>
#include <crochet/model.hpp>
#include <crochet/ranks/parallel.hpp>
#include <crochet/testing/thread_ranks.hpp>

namespace graph_passes_order_by_exchanges_test {

namespace cr = crochet;
using namespace cr::literals;

struct Mlp {
  static constexpr void define(cr::GraphBuilder& g) {
    const auto x = g.placeholder<float>("x", {g.dynamic("batch"), 100});
    const auto h = cr::tanh(cr::dense(cr::tanh(cr::dense(x, 101, "a")), 102, "b"));
    g.name("train", cr::minimize(cr::reduce_mean(cr::square(cr::dense(h, 103, "c"))), cr::SGD{0.1}));
  }
};

/// The steps of one run, in order: the first word of each line of describe(), with the result's shape and what it
/// assigns.
template <class Exchange>
std::vector<std::string> steps_with(Exchange exchange) {
  std::vector<std::string> steps;
  cr::testing::run_ranks(1, [&](cr::testing::ThreadRank me) {
    const auto executor = cr::Parallel{cr::Cpu{.threads = 1}, me, exchange}.template compile<Mlp>();
    std::istringstream text(describe(executor, cr::fetches<>, cr::targets<"train">));
    std::string line;
    while (std::getline(text, line)) {
      if (line.starts_with("| ") || line.starts_with("  ")) steps.push_back(line.substr(2));
    }
  });
  return steps;
}

using Steps = std::vector<std::string>;

/// The steps that exchange, and those that `others` name.
Steps those(const Steps& steps, const Steps& others) {
  Steps kept;
  for (const std::string& s : steps) {
    const bool other =
        std::ranges::any_of(others, [&](const std::string& o) { return s.find(o) != std::string::npos; });
    if (other || s.find("over_ranks") != std::string::npos) kept.push_back(s);
  }
  return kept;
}

// The products are gradients, in the order of the backward pass. An exchange is on the wire while the next products are
// computed, and the one that has begun first ends first.
TEST(OrderByExchanges, AnExchangeBeginsBehindItsGradientAndEndsBeforeItsUpdate) {
  EXPECT_EQ(
      those(steps_with(cr::OverlappedExchange{}),
            {"matmul [102, 103]", "matmul [101, 102]", "matmul [100, 101]", "concat", "-> "}),
      (Steps{"matmul [102, 103]", "begin_over_ranks []", "matmul [101, 102]", "begin_over_ranks []",
             "matmul [100, 101]", "begin_over_ranks []", "concat [306]", "begin_over_ranks []",
             "loop [1, 1]: add -> global_step", "end_over_ranks [102, 103]", "loop [102, 103]: mul sub -> c/kernel",
             "end_over_ranks [101, 102]", "loop [101, 102]: mul sub -> b/kernel", "end_over_ranks [100, 101]",
             "loop [100, 101]: mul sub -> a/kernel", "end_over_ranks [306]", "loop [1, 101]: mul sub -> a/bias",
             "loop [1, 102]: mul sub -> b/bias", "loop [1, 103]: mul sub -> c/bias"}));
}

TEST(OrderByExchanges, BlockingExchangesAreOneStepEach) {
  EXPECT_EQ(those(steps_with(cr::BlockingExchange{}), {"concat"}),
            (Steps{"mean_over_ranks [100, 101]", "mean_over_ranks [101, 102]", "mean_over_ranks [102, 103]",
                   "concat [306]", "mean_over_ranks [306]"}));
}

}  // namespace graph_passes_order_by_exchanges_test
