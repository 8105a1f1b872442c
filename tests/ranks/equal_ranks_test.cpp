// SPDX-License-Identifier: Apache-2.0
// Ranks with other options or other variables than rank 0 are found before anything is exchanged.
#include <crochet/ranks/equal_ranks.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <crochet/crochet.hpp>
#include <crochet/executor/cpu.hpp>
#include <crochet/ranks/parallel.hpp>
#include <crochet/testing/thread_ranks.hpp>

namespace ranks_equal_ranks_test {

namespace cr = crochet;

template <int Columns>
struct Model {
  static constexpr void define(cr::GraphBuilder& g) {
    const auto x = g.placeholder<float>("x", {g.dynamic("batch"), 3});
    const auto w = g.variable<float>("w", {3, Columns}, cr::ones());
    g.name("train", cr::minimize(cr::reduce_mean(cr::square(cr::matmul(x, w))), cr::SGD{0.01}));
  }
};

/// The errors of `size` ranks that do body(rank).
template <class Body>
std::vector<std::string> errors_of(int size, const Body& body) {
  std::vector<std::string> errors(static_cast<std::size_t>(size));
  cr::testing::run_ranks(size, [&](cr::testing::ThreadRank me) {
    try {
      body(me);
    } catch (const cr::RanksDisagreeError& e) {
      errors[static_cast<std::size_t>(me.rank())] = e.what();
    }
  });
  return errors;
}

TEST(EqualRanks, HaveOneLimitOfThreads) {
  const auto errors = errors_of(3, [](cr::testing::ThreadRank me) {
    cr::Parallel{cr::Cpu{.threads = me.rank() == 2 ? 2 : 1}, me}.compile<Model<1>>();
  });
  EXPECT_EQ(errors[0],
            "crochet: Cpu's limit of threads is 1 on rank 0 and 2 on rank 2; give .threads the same number on all "
            "ranks; 0 is the number of processors that a process may use");
  EXPECT_EQ(errors, std::vector<std::string>(3, errors[0]));
}

TEST(EqualRanks, HaveOneSeed) {
  const auto errors = errors_of(2, [](cr::testing::ThreadRank me) {
    const std::uint64_t seed = me.rank() == 1 ? ~std::uint64_t{} : 3;
    cr::Parallel{cr::Cpu{.threads = 1, .seed = seed}, me}.compile<Model<1>>();
  });
  EXPECT_EQ(errors[0],
            "crochet: the seed is 3 on rank 0 and 18446744073709551615 on rank 1; give .seed the same number on all "
            "ranks");
  EXPECT_EQ(errors[1], errors[0]);
}

TEST(EqualRanks, HaveOneModel) {
  const auto errors = errors_of(2, [](cr::testing::ThreadRank me) {
    const cr::Parallel parallel{cr::Cpu{.threads = 1}, me};
    if (me.rank() == 0) {
      cr::MonitoredSession{parallel.compile<Model<1>>()};
    } else {
      cr::MonitoredSession{parallel.compile<Model<2>>()};
    }
  });
  EXPECT_EQ(errors[0],
            "crochet: ranks 0 and 1 have variables with other names, types or sizes; create the session with the same "
            "model and chain, and give a step function variables of the same sizes, on all ranks");
  EXPECT_EQ(errors[1], errors[0]);
}

TEST(EqualRanks, HaveStepFunctionsWithVariablesOfOneSize) {
  const auto errors = errors_of(3, [](cr::testing::ThreadRank me) {
    std::vector<double> u(me.rank() == 1 ? 4 : 3);
    cr::MonitoredSession{cr::Parallel{cr::StepExecutor{[](auto&) {}, cr::variable<"u">(u)}, me}};
  });
  EXPECT_NE(errors[0].find("ranks 0 and 1 have variables"), std::string::npos) << errors[0];
  EXPECT_EQ(errors, std::vector<std::string>(3, errors[0]));
}

TEST(EqualRanks, AreComparedByNamesAndTypes) {
  std::vector<float> floats(2);
  std::vector<std::int32_t> integers(2);
  const auto nothing = [](auto&) {};
  cr::StepExecutor first{nothing, cr::variable<"u">(floats)};
  cr::StepExecutor second{nothing, cr::variable<"u">(integers)};
  cr::StepExecutor third{nothing, cr::variable<"v">(floats)};
  const std::uint64_t layout = cr::detail::layout_of_variables(first);
  EXPECT_NE(layout, cr::detail::layout_of_variables(second));
  EXPECT_NE(layout, cr::detail::layout_of_variables(third));
  EXPECT_EQ(layout, cr::detail::layout_of_variables(first));
}

}  // namespace ranks_equal_ranks_test
