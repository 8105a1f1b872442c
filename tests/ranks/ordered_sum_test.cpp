// SPDX-License-Identifier: Apache-2.0
// The halves of a sum over ranks, for ranks that have parts of values: together they are the whole, also where ranks
// have no element.
#include <crochet/ranks/ordered_sum.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include <crochet/testing/thread_ranks.hpp>

#include "rank_values.hpp"

namespace ranks_ordered_sum_test {

using crochet::OrderedSum;
using crochet::testing::ThreadRank;
using rank_values::values_of;

template <class T>
void expect_the_whole_of_parts(ThreadRank me, std::size_t n) {
  OrderedSum sums;
  const std::vector<T> mine = values_of<T>(me.rank(), n);
  std::vector<T> whole = mine;
  sums.run(me, std::span{whole}, T(3), T(7));

  const auto ranks = static_cast<std::size_t>(me.size()), size = (n + ranks - 1) / ranks;
  std::vector<T> part(size, T(-1));
  sums.run_part(me, std::span<const T>{mine}, T(3), T(7), std::span{part});
  const std::size_t first = std::min(n, static_cast<std::size_t>(me.rank()) * size), last = std::min(n, first + size);
  EXPECT_TRUE(std::equal(part.begin(), part.begin() + static_cast<std::ptrdiff_t>(last - first),
                         whole.begin() + static_cast<std::ptrdiff_t>(first)));
  EXPECT_EQ(std::count(part.begin() + static_cast<std::ptrdiff_t>(last - first), part.end(), T(0)),
            static_cast<std::ptrdiff_t>(size - (last - first)));

  std::vector<T> gathered(n, T(-1));
  sums.gather(me, std::span<const T>{part}, std::span{gathered});
  EXPECT_EQ(gathered, whole);
}

TEST(OrderedSums, OfPartsAreThoseOfTheWhole) {
  for (const int ranks : {1, 2, 3, 5, 8}) {
    for (const std::size_t n :
         {std::size_t{1}, std::size_t{3}, std::size_t{11}, std::size_t{5000}, std::size_t{50'001}}) {
      crochet::testing::run_ranks(ranks, [&](ThreadRank me) {
        expect_the_whole_of_parts<float>(me, n);
        expect_the_whole_of_parts<double>(me, n);
      });
    }
  }
}

}  // namespace ranks_ordered_sum_test
