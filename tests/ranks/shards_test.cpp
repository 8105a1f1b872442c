// SPDX-License-Identifier: Apache-2.0
// Fixed shards: the same bits on each number of ranks, in one training or in one that goes on with another number.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <crochet/base/error.hpp>
#include <crochet/executor/cpu.hpp>
#include <crochet/ranks/parallel.hpp>
#include <crochet/testing/thread_ranks.hpp>

#include "../checkpoint/directory.hpp"
#include "elastic.hpp"
#include "models.hpp"

namespace ranks_shards_test {

using namespace ranks_models;
using ranks_elastic::ElasticTraining;
using namespace cr::literals;

template <class Model>
std::vector<float> trained(int ranks, int shards, std::int64_t batch, int threads) {
  std::vector<std::vector<float>> found(static_cast<std::size_t>(ranks));
  cr::testing::run_ranks(ranks, [&](cr::testing::ThreadRank me) {
    auto executor =
        cr::Parallel{cr::Cpu{.threads = threads, .seed = 5}, me, {.shards = shards}}.template compile<Model>();
    found[static_cast<std::size_t>(me.rank())] = train(executor, batch, me.rank(), ranks, 30);
  });
  for (const auto& f : found) EXPECT_EQ(f, found[0]);
  return found[0];
}

/// On 1, 2 and 4 ranks with 4 shards. `batch`: rows, of which the shards may have different numbers.
template <class Model>
void expect_the_same_bits(std::int64_t batch, int threads = 1) {
  const std::vector<float> one = trained<Model>(1, 4, batch, threads);
  EXPECT_EQ(trained<Model>(2, 4, batch, threads), one);
  EXPECT_EQ(trained<Model>(4, 4, batch, threads), one);

  auto alone = cr::Cpu{.threads = 1, .seed = 5}.compile<Model>();
  const std::vector<float> expected = train(alone, batch, 0, 1, 30);
  ASSERT_EQ(one.size(), expected.size());
  for (std::size_t i = 0; i < one.size(); ++i) {
    EXPECT_NEAR(one[i], expected[i], 1e-3F * std::max(1.0F, std::abs(expected[i])));
  }
}

TEST(FixedShards, GiveTheSameBitsOnEachNumberOfRanks) {
  expect_the_same_bits<Cnn>(24);
  expect_the_same_bits<Cnn>(22);
  expect_the_same_bits<Transformer>(23);
}
TEST(FixedShards, WithALossThatIsASum) { expect_the_same_bits<SummedLoss>(21); }
TEST(FixedShards, WithGradientsThatAreAccumulated) { expect_the_same_bits<Accumulated>(22); }
TEST(FixedShards, WithTwoThreadsOnEachRank) { expect_the_same_bits<Cnn>(22, 2); }
TEST(FixedShards, OnThreeTimesAPowerOfTwoRanks) {
  EXPECT_EQ(trained<SummedLoss>(3, 12, 29, 1), trained<SummedLoss>(6, 12, 29, 1));
}

TEST(FixedShards, AreDividedEvenlyAmongRanks) {
  const auto error_of = [](int ranks, int shards) {
    std::string text;
    cr::testing::run_ranks(ranks, [&](cr::testing::ThreadRank me) {
      try {
        cr::Parallel{cr::Cpu{.threads = 1}, me, {.shards = shards}}.compile<SummedLoss>();
      } catch (const cr::LogicError& e) {
        if (me.rank() == 0) text = e.what();
      }
    });
    return text;
  };
  EXPECT_EQ(error_of(3, 4),
            "crochet: Parallel's shards is 4 with 3 ranks; give the number of ranks times 1, 2, 4, 8, 16, 32 or 64, so "
            "that each rank has as many of them");
  for (const int shards : {1, 6, -2, 256}) EXPECT_NE(error_of(2, shards), "") << shards;
  EXPECT_EQ(error_of(2, 128), "");
}

template <class Model>
void expect_none_of_zero(int ranks, std::int64_t batch) {
  std::vector<float> expected;
  cr::testing::run_ranks(ranks, [&](cr::testing::ThreadRank me) {
    auto executor = cr::Parallel{cr::Cpu{.threads = 1, .seed = 5}, me}.template compile<Model>();
    const std::vector<float> found = train(executor, batch, me.rank(), ranks, 30);
    if (me.rank() == 0) expected = found;
  });
  EXPECT_EQ(trained<Model>(ranks, 0, batch, 1), expected) << ranks << " ranks";
}
TEST(FixedShards, ZeroIsNoneAsWithoutOptions) {
  for (const int ranks : {1, 2, 3}) expect_none_of_zero<Cnn>(ranks, 23);
  expect_none_of_zero<SummedLoss>(2, 24);
  auto alone = cr::Cpu{.threads = 1, .seed = 5}.compile<SummedLoss>();
  auto solo = cr::Parallel{cr::Cpu{.threads = 1, .seed = 5}, cr::Solo{}, cr::ParallelOptions{}}.compile<SummedLoss>();
  EXPECT_EQ(train(solo, 21, 0, 1, 30), train(alone, 21, 0, 1, 30));
}

TEST(FixedShards, AllRanksRefuseABatchThatTheyCannotDivide) {
  const auto errors_of = [](std::vector<std::int64_t> rows, int shards = 4) {
    std::vector<std::string> texts(rows.size());
    cr::testing::run_ranks(static_cast<int>(rows.size()), [&](cr::testing::ThreadRank me) {
      const auto r = static_cast<std::size_t>(me.rank());
      auto executor = cr::Parallel{cr::Cpu{.threads = 1}, me, {.shards = shards}}.compile<SummedLoss>();
      executor.initialize();
      decltype(executor)::Workspace workspace;
      const std::vector<float> x(static_cast<std::size_t>(rows[r] * features));
      const std::vector<std::int32_t> y(static_cast<std::size_t>(rows[r]));
      using Demand =
          cr::detail::demand_for<decltype(executor), cr::detail::List<>, cr::detail::List<cr::Name<"train">>>;
      try {
        executor.run<Demand>(workspace, cr::feed<"x">(cr::TensorView<float, 2>{x.data(), {rows[r], features}}),
                             cr::feed<"y">(cr::TensorView<std::int32_t, 1>{y.data(), {rows[r]}}));
      } catch (const cr::LogicError& e) {
        texts[r] = e.what();
      }
    });
    EXPECT_EQ(texts[0], texts[1]);
    return texts[0];
  };
  EXPECT_EQ(errors_of({2, 3}), "");
  EXPECT_EQ(errors_of({4, 3}, 0), "");
  EXPECT_EQ(
      errors_of({1, 2}),
      "crochet: a batch of 3 rows has fewer rows than Parallel's shards, which are 4; drop or pad the last batch, "
      "or give fewer shards");
  EXPECT_EQ(
      errors_of({4, 3}),
      "crochet: with Parallel's shards, rank 1 needs the rows of the batch from number 3 on; divide the batches by "
      "shard(ranks)");
}

/// What hooks see: rows of all shards, scalars, a variable, and the value that a step stores beside a variable.
struct Named {
  static constexpr void define(cr::GraphBuilder& g) {
    const auto batch = g.dynamic("batch");
    const auto x = g.placeholder<float>("x", {batch, 3});
    const auto out = g.name("out", cr::dropout(cr::dense(x, 2, "layer"), 0.5));
    const auto loss = g.name("loss", cr::reduce_mean(cr::square(out)));
    const auto train = cr::minimize(loss, cr::Momentum{0.05, 0.9});
    const auto count = g.variable<float>("count", {}, cr::zeros(), false);
    g.name("counted", g.assign(count, count * 2.0F + 1.0F) * 3.0F);
    g.name("train", train);
  }
};

struct Seen {
  std::vector<float> out, loss, counted;
};

/// Rows of `steps` batches of 10, as rank 0 of `ranks` sees them, and the values that are the same on all.
Seen seen_by_rank_0(int ranks, int steps) {
  Seen seen;
  cr::testing::run_ranks(ranks, [&](cr::testing::ThreadRank me) {
    auto executor = cr::Parallel{cr::Cpu{.threads = 1, .seed = 2}, me, {.shards = 4}}.compile<Named>();
    executor.initialize();
    decltype(executor)::Workspace workspace;
    const std::int64_t from = 10 * me.rank() / ranks, rows = 10 * (me.rank() + 1) / ranks - from;
    std::vector<float> x;
    for (std::int64_t i = from * 3; i < (from + rows) * 3; ++i) x.push_back(static_cast<float>(i % 7) - 2.5F);
    using Demand =
        cr::detail::demand_for<decltype(executor),
                               cr::detail::List<cr::Name<"out">, cr::Name<"loss">, cr::Name<"counted">, cr::Name<"x">>,
                               cr::detail::List<cr::Name<"train">>>;
    for (int step = 0; step < steps; ++step) {
      executor.run<Demand>(workspace, cr::feed<"x">(cr::TensorView<float, 2>{x.data(), {rows, 3}}));
      const auto out = executor.fetch<cr::Name<"out">>(workspace);
      EXPECT_EQ(out.extent(0), rows);
      EXPECT_EQ(executor.fetch<cr::Name<"x">>(workspace).data(), x.data());
      if (me.rank() != 0) continue;
      seen.out.insert(seen.out.end(), out.data(), out.data() + out.size());
      seen.loss.push_back(executor.fetch<cr::Name<"loss">>(workspace));
      seen.counted.push_back(executor.fetch<cr::Name<"counted">>(workspace));
    }
  });
  return seen;
}

TEST(FixedShards, FetchesHaveTheRowsOfAllShardsOfTheRank) {
  const Seen one = seen_by_rank_0(1, 4), two = seen_by_rank_0(2, 4);
  ASSERT_EQ(one.out.size(), 4U * 20);
  ASSERT_EQ(two.out.size(), 4U * 10);
  for (std::size_t step = 0; step < 4; ++step) {
    for (std::size_t i = 0; i < 10; ++i) EXPECT_EQ(two.out[step * 10 + i], one.out[step * 20 + i]);
  }
  EXPECT_EQ(one.loss, two.loss);
  EXPECT_EQ(one.counted, (std::vector<float>{3, 9, 21, 45}));
  EXPECT_EQ(two.counted, one.counted);
}

std::vector<float> elastic(int ranks, const std::filesystem::path& path, const ElasticTraining& training) {
  std::vector<std::vector<float>> found(static_cast<std::size_t>(ranks));
  cr::testing::run_ranks(
      ranks, [&](cr::testing::ThreadRank me) { found[static_cast<std::size_t>(me.rank())] = training.run(me, path); });
  for (const auto& f : found) EXPECT_EQ(f, found[0]);
  return found[0];
}

TEST(FixedShards, ARunGoesOnWithAnotherNumberOfRanks) {
  const cr::Directory undisturbed, resumed, on_two;
  const std::vector<float> whole = elastic(4, undisturbed.path(), {.last_step = 12});
  elastic(4, resumed.path(), {.last_step = 3});
  elastic(1, resumed.path(), {.last_step = 7});
  elastic(2, resumed.path(), {.last_step = 8});
  EXPECT_EQ(elastic(4, resumed.path(), {.last_step = 12}), whole);
  EXPECT_EQ(elastic(2, on_two.path(), {.last_step = 12}), whole);
}

TEST(FixedShards, AProfileChangesNothing) {
  const cr::Directory plain, profiled;
  const ElasticTraining training{.last_step = 5}, watched{.last_step = 5, .profile_every = 2};
  EXPECT_EQ(elastic(2, plain.path(), training), elastic(2, profiled.path(), watched));
}

}  // namespace ranks_shards_test
