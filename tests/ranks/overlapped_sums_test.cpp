// SPDX-License-Identifier: Apache-2.0
// Sums over ranks that overlap with computation: the same bits as OrderedSum's, whatever the order of events.
#include <crochet/ranks/overlapped_sums.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <vector>

#include <crochet/testing/thread_ranks.hpp>

#include "rank_values.hpp"

namespace ranks_overlapped_sums_test {

using crochet::Compression;
using crochet::DType;
using crochet::OrderedSum;
using crochet::testing::run_ranks;
using crochet::testing::ThreadRank;
using rank_values::values_of;

/// The sums that a step makes: short and long ones, of which few divide by the number of ranks.
const std::vector<std::size_t> sizes{5, 20'000, 16'384, 1, 50'001};

using Sums = crochet::OverlappedSums<ThreadRank>;

/// Makes the sums twice, with calls of progress() between that differ by rank, and compares them with OrderedSum's.
template <class T>
void expect_ordered_sums(ThreadRank me, Compression compression, DType type, bool backwards) {
  Sums sums;
  for (int run = 0; run < 2; ++run) {
    std::vector<std::vector<T>> values;
    values.reserve(sizes.size());
    std::vector<int> numbers;
    for (const std::size_t n : sizes) values.push_back(values_of<T>(me.rank() + run, n));
    for (const auto& v : values) {
      numbers.push_back(sums.begin(me, v.data(), static_cast<std::int64_t>(v.size()), type, {compression, 3, 7}));
      for (int k = 0; k < me.rank(); ++k) sums.progress(me);
    }
    for (std::size_t k = 0; k < values.size(); ++k) {
      const std::size_t which = backwards ? values.size() - 1 - k : k;
      std::vector<T> found(values[which].size());
      sums.end(me, numbers[which], found.data(), static_cast<std::int64_t>(found.size()));
      std::vector<T> expected = values[which];
      OrderedSum ordered;
      if constexpr (std::is_same_v<T, float>) {
        if (compression == Compression::bfloat16) {
          ordered.run_compressed(me, std::span{expected}, 3.0F, 7.0F);
          ASSERT_TRUE(found == expected) << "rank " << me.rank() << ", sum " << which;
          continue;
        }
      }
      ordered.run(me, std::span{expected}, T(3), T(7));
      ASSERT_TRUE(found == expected) << "rank " << me.rank() << ", sum " << which;
    }
  }
}

class OverlappedSums : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Ranks, OverlappedSums, testing::Values(1, 2, 3, 4));

TEST_P(OverlappedSums, HaveTheBitsOfOrderedSums) {
  for (const bool backwards : {false, true}) {
    run_ranks(GetParam(), [&](ThreadRank me) {
      expect_ordered_sums<float>(me, Compression::none, DType::float32, backwards);
      expect_ordered_sums<float>(me, Compression::bfloat16, DType::float32, backwards);
      expect_ordered_sums<double>(me, Compression::bfloat16, DType::float64, backwards);
    });
  }
}

// One rank runs at a time, in orders that are drawn.
TEST_P(OverlappedSums, HaveThemInEachOrderOfEvents) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    run_ranks(
        GetParam(),
        [&](ThreadRank me) { expect_ordered_sums<float>(me, Compression::none, DType::float32, seed % 2 == 0); }, seed);
  }
}

// A short sum is that of the rounded values; the others are rounded once more.
TEST(Compression, RoundsEachRanksValues) {
  for (const std::size_t n : {100U, 40'000U}) {
    run_ranks(3, [&](ThreadRank me) {
      std::vector<float> values = values_of<float>(me.rank(), n), expected(n);
      OrderedSum().run_compressed(me, std::span{values}, 1.0F, 3.0F);
      std::vector<std::vector<float>> all{values_of<float>(0, n), values_of<float>(1, n), values_of<float>(2, n)};
      const auto rounded = [](float x) { return float{crochet::bfloat16(x)}; };
      for (std::size_t i = 0; i < n; ++i) {
        const float mean = ((rounded(all[0][i]) + rounded(all[1][i])) + rounded(all[2][i])) / 3;
        expected[i] = n == 100 ? mean : rounded(mean);
      }
      ASSERT_TRUE(values == expected) << n << " values, rank " << me.rank();
    });
  }
}

// What a test would wait for without end.
TEST(ThreadRanks, ACallThatAnotherRankDoesNotStartIsAnError) {
  const std::vector<std::byte> from(8);
  const auto gather_on = [&](ThreadRank me, int lane) {
    std::vector<std::byte> to(16);
    auto request = me.start_all_gather(lane, from, to);
    me.wait(request);
  };
  const auto blocking = [&](ThreadRank me) {
    std::vector<std::byte> to(16);
    if (me.rank() == 1) return me.all_gather(from, to);
    gather_on(me, 0);
  };
  const auto other_lanes = [&](ThreadRank me) { gather_on(me, me.rank()); };
  const auto leaves = [&](ThreadRank me) {
    if (me.rank() == 0) gather_on(me, 0);
  };
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    EXPECT_THROW(run_ranks(2, blocking, seed), std::logic_error);
    EXPECT_THROW(run_ranks(2, other_lanes, seed), std::logic_error);
    EXPECT_THROW(run_ranks(2, leaves, seed), std::logic_error);
  }
}

}  // namespace ranks_overlapped_sums_test
