// SPDX-License-Identifier: Apache-2.0
// ThreadChoices: one choice for each plan and sizes, and what new sizes begin with.
#include <crochet/executor/cpu/thread_choices.hpp>

#include <utility>

#include <gtest/gtest.h>

namespace crochet::cpu {
namespace thread_choices_test {

const char plans[2] = {};
Dims sizes(std::int64_t batch) {
  Dims d{};
  d[0] = batch;
  return d;
}
/// Runs of which fewer threads are slower, or faster, until the choice is made.
void settle(ThreadChoice& choice, bool fewer_are_faster) {
  for (int i = 0; i < 200; ++i) {
    const bool timed = choice.times_next();
    const std::int64_t threads = choice.threads();
    if (timed) choice.took(fewer_are_faster ? 1000 * threads : 8000 / threads);
  }
}

TEST(ThreadChoices, HaveOneForEachPlanAndSizes) {
  ThreadChoices all;
  ThreadChoice& first = all.find(&plans[0], sizes(32), 4);
  ThreadChoice& other = all.find(&plans[1], sizes(32), 4);
  EXPECT_NE(&first, &other);
  EXPECT_EQ(&all.find(&plans[0], sizes(32), 4), &first);
  EXPECT_EQ(&all.find(&plans[1], sizes(32), 4), &other);
  EXPECT_NE(&all.find(&plans[0], sizes(33), 4), &first);
}

TEST(ThreadChoices, NewSizesBeginWithTheNumberOfThePlan) {
  ThreadChoices all;
  EXPECT_EQ(all.chosen(&plans[0], sizes(32), 4), 4) << "none yet";
  settle(all.find(&plans[0], sizes(32), 4), true);
  EXPECT_EQ(all.chosen(&plans[0], sizes(32), 4), 1);
  EXPECT_EQ(all.find(&plans[0], sizes(7), 4).threads(), 1);
  EXPECT_EQ(all.find(&plans[1], sizes(32), 4).threads(), 4) << "another plan";
  settle(all.find(&plans[0], sizes(7), 4), false);
  EXPECT_EQ(all.chosen(&plans[0], sizes(7), 4), 4);
  EXPECT_EQ(all.chosen(&plans[0], sizes(32), 4), 1);
}

TEST(ThreadChoices, ForgetTheOldest) {
  ThreadChoices all;
  settle(all.find(&plans[0], sizes(0), 4), true);
  settle(all.find(&plans[0], sizes(1), 4), true);
  for (std::int64_t batch = 2; batch <= 16; ++batch) all.find(&plans[0], sizes(batch), 4);
  EXPECT_EQ(all.chosen(&plans[0], sizes(0), 4), 4) << "forgotten";
  EXPECT_EQ(all.chosen(&plans[0], sizes(1), 4), 1) << "kept";
}

// A workspace may be used by a further executor whose team is smaller.
TEST(ThreadChoices, HaveOneForEachLimit) {
  ThreadChoices all;
  settle(all.find(&plans[0], sizes(32), 8), false);
  EXPECT_EQ(all.find(&plans[0], sizes(32), 8).threads(), 8);
  EXPECT_EQ(all.find(&plans[0], sizes(32), 2).threads(), 2);
  EXPECT_EQ(all.chosen(&plans[0], sizes(32), 4), 4);
  EXPECT_EQ(all.find(&plans[0], sizes(33), 4).threads(), 4) << "the number of other sizes with a higher limit";
  EXPECT_EQ(all.find(&plans[0], sizes(32), 8).threads(), 8);
}

TEST(ThreadChoices, CanBeMoved) {
  ThreadChoices all;
  settle(all.find(&plans[0], sizes(32), 4), true);
  ThreadChoices moved = std::move(all);
  EXPECT_EQ(moved.find(&plans[0], sizes(32), 4).threads(), 1);
  all = ThreadChoices{};
  EXPECT_EQ(all.find(&plans[0], sizes(32), 4).threads(), 4);
}

}  // namespace thread_choices_test
}  // namespace crochet::cpu
