// SPDX-License-Identifier: Apache-2.0
// ChosenTeam: limits of threads, how many of them run, and what stays the same when a run fails or the team is moved.
#include <crochet/executor/cpu/chosen_team.hpp>

#include <atomic>
#include <limits>
#include <string>
#include <utility>

#include <gtest/gtest.h>

namespace crochet::cpu {
namespace chosen_team_test {

struct Plan {};
struct OtherPlan {};

Dims sizes(std::int64_t batch) {
  Dims d{};
  d[0] = batch;
  return d;
}
/// The number of members of a run. All of them must see the same.
template <class P = Plan>
int members_of_a_run(ChosenTeam& team, ThreadChoices& choices, std::int64_t batch = 1) {
  std::atomic<int> ran = 0;
  int count = 0;
  team.run<P>(choices, sizes(batch), [&](kernel::Worker& w) {
    ++ran;
    w.sync();
    if (w.index() == 0) count = w.count();
  });
  EXPECT_EQ(ran, count);
  return count;
}

TEST(ChosenTeam, HasAsManyThreadsAsTheLimit) {
  for (int limit : {1, 2, 5, 16}) EXPECT_EQ(ChosenTeam({.threads = limit}).size(), limit);
  EXPECT_EQ(ChosenTeam({.threads = 0}).size(), usable_processors());
}
TEST(ChosenTeam, ANegativeLimitIsAnError) {
  for (int limit : {-1, std::numeric_limits<int>::min()}) {
    try {
      ChosenTeam team({.threads = limit});
      ADD_FAILURE() << team.size();
    } catch (const LogicError& error) {
      EXPECT_EQ(error.what(), "crochet: Cpu's threads is " + std::to_string(limit) +
                                  "; give the number of threads, or 0 for as many as the process has processors");
    }
  }
}

TEST(ChosenTeam, BeginsWithAllThreadsAndTriesFewer) {
  for (int limit : {1, 2, 3}) {
    ChosenTeam team({.threads = limit});
    ThreadChoices choices;
    EXPECT_EQ(team.members<Plan>(choices, sizes(1)), limit);
    EXPECT_EQ(members_of_a_run(team, choices), limit);
    int least = limit;
    for (int run = 0; run < 100; ++run) {
      const int members = members_of_a_run(team, choices);
      EXPECT_GE(members, 1);
      EXPECT_LE(members, limit);
      least = members < least ? members : least;
    }
    EXPECT_LT(least, limit == 1 ? 2 : limit);
    EXPECT_EQ(members_of_a_run<OtherPlan>(team, choices), limit) << "another plan";
  }
}
TEST(ChosenTeam, ANumberThatIsGivenIsNotChosen) {
  ChosenTeam team({.threads = 3, .running = 2});
  ThreadChoices choices;
  for (int run = 0; run < 100; ++run) ASSERT_EQ(members_of_a_run(team, choices), 2);
  EXPECT_EQ(team.members<Plan>(choices, sizes(1)), 2);
}
TEST(ChosenTeam, RunsOnOtherNumbersWithTheSameParts) {
  ChosenTeam team({.threads = 3});
  for (int members = 1; members <= 3; ++members) {
    std::atomic<int> ran = 0;
    team.run_on(members, [&](kernel::Worker& w) { ran += w.parts() == 3 ? 1 : 100; });
    EXPECT_EQ(ran, members);
  }
  int ran = 0;
  team.run_alone([&](kernel::Worker& w) { ran += w.count(); });
  EXPECT_EQ(ran, 1);
}

// In every run, tries included, another member fails.
TEST(ChosenTeam, AFailedRunLeavesTheTeamAndItsChoiceUsable) {
  ChosenTeam team({.threads = 3});
  ThreadChoices choices;
  for (int run = 0; run < 100; ++run) {
    const auto fail = [&](kernel::Worker& w) {
      if (w.index() == run % w.count()) throw LogicError("this member");
      w.sync();
    };
    EXPECT_THROW(team.run<Plan>(choices, sizes(1), fail), LogicError);
    members_of_a_run(team, choices);
  }
}
TEST(ChosenTeam, CanBeMoved) {
  ChosenTeam team({.threads = 3, .running = 2});
  ThreadChoices choices;
  ChosenTeam moved = std::move(team);
  EXPECT_EQ(moved.size(), 3);
  EXPECT_EQ(members_of_a_run(moved, choices), 2);
  moved = ChosenTeam({.threads = 2, .running = 1});
  EXPECT_EQ(moved.size(), 2);
  EXPECT_EQ(members_of_a_run(moved, choices), 1);
}
// The workspace's choices are those of a larger team.
TEST(ChosenTeam, ChoicesOfALargerTeamAreNotUsed) {
  ChosenTeam large({.threads = 4}), small({.threads = 2});
  ThreadChoices choices;
  EXPECT_EQ(members_of_a_run(large, choices), 4);
  EXPECT_EQ(members_of_a_run(small, choices), 2);
  EXPECT_EQ(members_of_a_run(large, choices), 4);
}

}  // namespace chosen_team_test
}  // namespace crochet::cpu
