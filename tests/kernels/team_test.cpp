// SPDX-License-Identifier: Apache-2.0
// The team: every member runs, every wait ends, and the parts of the work cover all of it exactly once.
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <set>
#include <string>

#include <gtest/gtest.h>
#include <crochet/base/error.hpp>
#include <crochet/kernels/team.hpp>

// A sanitizer's allocator then returns null, as the system's does.
extern "C" const char* __asan_default_options();
extern "C" const char* __tsan_default_options();
extern "C" const char* __asan_default_options() { return "allocator_may_return_null=1"; }
extern "C" const char* __tsan_default_options() { return "allocator_may_return_null=1"; }

namespace crochet::kernel {
namespace {

TEST(Team, EveryMemberRunsOnceAFork) {
  for (int count = 1; count <= 4; ++count) {
    Team team(count);
    EXPECT_EQ(team.size(), count);
    std::vector<std::atomic<int>> ran(static_cast<std::size_t>(count));
    for (int fork = 0; fork < 100; ++fork) {
      team.run([&](Worker& w) {
        EXPECT_EQ(w.count(), count);
        ++ran[static_cast<std::size_t>(w.index())];
      });
    }
    for (const auto& n : ran) EXPECT_EQ(n, 100);
  }
}

// With more members than processors nearly every wait blocks. A lost wake-up would hang until the time limit of the
// test.
TEST(Team, LosesNoWakeUp) {
  for (int count : {2, 3, 4}) {
    Team team(count);
    std::int64_t sum = 0;
    std::vector<std::int64_t> mine(static_cast<std::size_t>(count));
    constexpr int forks = 1000;
    for (int fork = 0; fork < forks; ++fork) {
      team.run([&](Worker& w) {
        mine[static_cast<std::size_t>(w.index())] = fork + w.index();
        w.sync();
        if (w.index() == 0) {
          for (std::int64_t m : mine) sum += m;
        }
        w.sync();
      });
    }
    const std::int64_t n = count;
    EXPECT_EQ(sum, n * forks * (forks - 1) / 2 + forks * n * (n - 1) / 2);
  }
}

// Runs of fewer members, in any order of their numbers. The other members are not counted at barriers, and a member
// that has missed many runs takes its part in the next.
TEST(Team, RunsOnAsManyMembersAsItIsGiven) {
  for (int count : {2, 3, 6, 9}) {
    Team team(count);
    std::vector<int> ran(static_cast<std::size_t>(count), 0);
    std::vector<int> expected = ran;
    for (int run = 0; run < 400; ++run) {
      const int members = run % 7 == 0 ? count : 1 + run * run % count;
      team.run(
          [&](Worker& w) {
            EXPECT_EQ(w.count(), members);
            EXPECT_EQ(w.parts(), count);
            ++ran[static_cast<std::size_t>(w.index())];
            w.sync();
            if (w.index() == 0) {
              for (int m = 0; m < members; ++m) ++expected[static_cast<std::size_t>(m)];
              EXPECT_EQ(ran, expected);
            }
            w.sync();
          },
          members);
    }
  }
}
TEST(Team, AMemberThatThrowsEndsARunOfAFewAndTheNextMayHaveOthers) {
  Team team(6);
  for (int members : {2, 5, 3, 6, 2, 6}) {
    for (int thrower = 0; thrower < members; ++thrower) {
      EXPECT_THROW(team.run(
                       [&](Worker& w) {
                         if (w.index() == thrower) throw LogicError("this member");
                         w.sync();
                       },
                       members),
                   LogicError);
      std::atomic<int> ran = 0;
      team.run([&](Worker& w) { w.sync(), ++ran; }, 7 - members);
      EXPECT_EQ(ran, 7 - members);
    }
  }
}

/// Three parts with a barrier between them; each part calls `act(worker, part)`.
template <class Act>
void run_in_parts(Team& team, Act act) {
  team.run([&](Worker& w) {
    for (int part = 0; part < 3; ++part) {
      act(w, part);
      if (part < 2) w.sync();
    }
  });
}

TEST(Team, WhatAMemberThrowsEndsTheRunOfAllAndTheNextIsAsAnyOther) {
  for (int count = 1; count <= 6; ++count) {
    Team team(count);
    for (int member = 0; member < count; ++member) {
      for (int part = 0; part < 3; ++part) {
        const auto fail = [&](Worker& w, int now) {
          if (w.index() == member && now == part) throw LogicError("this member");
        };
        EXPECT_THROW(run_in_parts(team, fail), LogicError);
        std::atomic<int> ran = 0;
        for (int fork = 0; fork < 5; ++fork) run_in_parts(team, [&](Worker&, int) { ++ran; });
        EXPECT_EQ(ran, 5 * 3 * count);
      }
    }
    EXPECT_THROW(run_in_parts(team, [](Worker&, int) { throw LogicError("all"); }), LogicError);
  }
}
TEST(Team, NobodyGoesOnBehindABarrierToWhichAMemberDidNotCome) {
  for (int count : {2, 4, 6}) {
    Team team(count);
    std::atomic<int> behind = 0;
    for (int fork = 0; fork < 50; ++fork) {
      EXPECT_THROW(team.run([&](Worker& w) {
        if (w.index() == fork % count) throw LogicError("this member");
        w.sync();
        ++behind;
      }),
                   LogicError);
    }
    EXPECT_EQ(behind, 0);
  }
}
TEST(Team, ScratchMemoryThatIsNotThereIsAnErrorOfSoManyBytes) {
  for (int count : {1, 2, 5}) {
    Team team(count);
    try {
      team.run([&](Worker& w) {
        if (w.index() == count - 1) (void)w.scratch<double>(std::int64_t{1} << 55);
        w.sync();
      });
      ADD_FAILURE() << "there was so much memory";
    } catch (const ResourceExhaustedError& error) {
      EXPECT_NE(std::string(error.what()).find("a kernel's scratch: 288230376151711744 bytes"), std::string::npos)
          << error.what();
    }
    team.run([](Worker& w) { EXPECT_NE(w.scratch<double>(100), nullptr); });
  }
}

TEST(Team, WakesAfterAPause) {
  Team team(3);
  std::atomic<int> ran = 0;
  for (int fork = 0; fork < 5; ++fork) {
    std::this_thread::sleep_for(std::chrono::milliseconds(3));  // long enough for the other members to block
    team.run([&](Worker&) { ++ran; });
  }
  EXPECT_EQ(ran, 15);
}

TEST(Team, StartsAndEndsWithoutWork) {
  for (int i = 0; i < 50; ++i) Team team(3);
}

TEST(Team, WhatAMemberWroteIsSeenAfterASync) {
  for (int count : {2, 4, 6}) {  // from five members on, the first member releases the others
    Team team(count);
    for (int fork = 0; fork < 300; ++fork) {
      team.run([&](Worker& w) {
        *w.scratch<int>(1) = fork * 10 + w.index();
        w.sync();
        for (int m = 0; m < w.count(); ++m) {
          if (*w.scratch_of<int>(m) != fork * 10 + m) ADD_FAILURE() << "member " << m;
        }
        w.sync();
      });
    }
  }
}

// The members run the current function in every run, whether it is copied to them or stays in place.
TEST(Team, DoesWhatIsAskedForThisTime) {
  Team team(2);
  for (int fork = 0; fork < 200; ++fork) {
    std::atomic<int> seen = 0, more = 0;
    const int number = fork;
    team.run([&seen, number](Worker&) { seen += number; });
    EXPECT_EQ(seen, 2 * fork);
    const std::array<int, 16> numbers{fork, 1, 2, 3};
    team.run([&more, numbers](Worker&) { more += numbers[0] + numbers[3]; });
    EXPECT_EQ(more, 2 * (fork + 3));
    const std::vector<int> shared{fork};  // not trivially copyable
    team.run([&more, shared](Worker&) { more -= shared[0]; });
    EXPECT_EQ(more, 6);
  }
}

// The members of large teams are woken in a tree.
TEST(Team, OfManyMembersRunsAndBreaksOff) {
  for (int count : {16, 255, 256}) {
    Team team(count);
    for (int members : {count, 5, count}) {
      std::atomic<std::int64_t> sum = 0;
      std::int64_t seen = 0;
      team.run(
          [&](Worker& w) {
            sum += w.index();
            w.sync();
            if (w.index() == members - 1) seen = sum;
            w.sync();
          },
          members);
      EXPECT_EQ(seen, std::int64_t{members} * (members - 1) / 2) << count;
      const auto fail = [&](Worker& w) {
        if (w.index() == members - 1) throw LogicError("the last member");
        w.sync();
      };
      EXPECT_THROW(team.run(fail, members), LogicError);
    }
  }
}

/// The sum of `runs` runs of a team, each of which adds the numbers of its members.
std::int64_t sum_of_runs(Team& team, int runs) {
  std::int64_t sum = 0;
  for (int run = 0; run < runs; ++run) {
    team.run([&](Worker& w) {
      *w.scratch<int>(1) = w.index() + 1;
      w.sync();
      for (int m = 0; w.index() == 0 && m < w.count(); ++m) sum += *w.scratch_of<int>(m);
    });
  }
  return sum;
}
TEST(Team, TwoOfThemRunAtTheSameTime) {
  std::int64_t sums[2] = {};
  const auto use = [&sums](int i) {
    Team team(3);
    sums[i] = sum_of_runs(team, 300);
  };
  Thread other([&use] { use(1); });
  use(0);
  other.join();
  EXPECT_EQ(sums[0], 300 * 6);
  EXPECT_EQ(sums[1], 300 * 6);
}
TEST(Team, MayBeUsedByOneThreadAfterAnother) {
  auto* const team = new Team(3);
  for (int i = 0; i < 5; ++i) {
    std::int64_t sum = 0;
    Thread user([&] { sum = sum_of_runs(*team, 50); });
    user.join();
    EXPECT_EQ(sum, 50 * 6);
    EXPECT_EQ(sum_of_runs(*team, 50), 50 * 6);
  }
  Thread end([team] { delete team; });
  end.join();
}

// After fork() the child has the memory of the team, and of its threads only the one that forked.
TEST(Team, AChildOfForkRunsOnOneMember) {
  for (int members : {2, 3, 6}) {
    pid_t child = -1;
    int status = 0;
    {
      Team team(6);
      EXPECT_EQ(sum_of_runs(team, 3), 3 * 21);
      child = ::fork();
      ASSERT_NE(child, -1);
      if (child == 0) ::alarm(60);  // ends a child that waits for ever
      team.run([&](Worker& w) { w.index() == 0 ? status = 10 * w.count() + w.parts() : 0; }, members);
      try {
        team.run([](Worker&) { throw LogicError("all"); }, members);
      } catch (const LogicError&) {
        ++status;
      }
    }  // and the child's team ends
    if (child == 0) ::_exit(status);
    EXPECT_EQ(status, 10 * members + 6 + 1);
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status)) << status;
    EXPECT_EQ(WEXITSTATUS(status), 10 + 6 + 1) << "one member, and parts for six";
  }
}

TEST(Worker, PartsCoverEverythingOnce) {
  Barrier barrier(1);
  std::vector<AlignedBytes> scratch(5);
  for (int count = 1; count <= 5; ++count) {
    for (std::int64_t n : {0, 1, 2, 3, 7, 16, 17, 100, 1001}) {
      for (std::int64_t grain : {1, 4, 16, 64}) {
        std::int64_t at = 0, most = 0;
        for (int i = 0; i < count; ++i) {
          const Range r = Worker(i, count, barrier, scratch).part(n, grain);
          EXPECT_EQ(r.from, at) << n << " by " << grain << " over " << count;
          EXPECT_GE(r.size(), 0);
          EXPECT_TRUE(r.from % grain == 0 || r.from == n);
          most = std::max(most, r.size());
          at = r.to;
        }
        EXPECT_EQ(at, n);
        EXPECT_EQ(Worker(0, count, barrier, scratch).part(n, grain).size(), most) << "what is left over";
        EXPECT_LE(most, ((n + grain - 1) / grain + count - 1) / count * grain) << "evenly";
      }
    }
  }
}

// The parts of a sum follow from its work and the limit; the members that run share them.
TEST(Worker, PartsOfASumDoNotDependOnTheMembersThatRun) {
  Barrier barrier(1);
  std::vector<AlignedBytes> scratch(128);
  for (int limit : {1, 2, 3, 16, 64, 128}) {
    for (std::int64_t work : {0, 1, 99, 100, 199, 200, 1000, 1'000'000}) {
      const auto worker = [&](int index, int count) { return Worker(index, count, barrier, scratch, {.most = limit}); };
      const int parts = worker(0, 1).parts_of(work, 100);
      EXPECT_GE(parts, 1);
      EXPECT_LE(parts, limit);
      EXPECT_TRUE(parts == 1 || parts * 100 <= work);
      EXPECT_TRUE(parts == limit || (parts + 1) * 100 > work);
      for (int count = 1; count <= limit; count = count * 2 + 1) {
        std::int64_t at = 0;
        for (int i = 0; i < count; ++i) {
          const Worker w = worker(i, count);
          EXPECT_EQ(w.parts_of(work, 100), parts);
          EXPECT_EQ(w.part(parts).from, at);
          at = w.part(parts).to;
        }
        EXPECT_EQ(at, parts);
      }
    }
  }
}
TEST(Worker, JoinsThePartsOfASumInOrder) {
  constexpr int parts = 7;
  Team team(5);
  for (int members = 1; members <= 5; ++members) {
    std::vector<int> seen;
    team.run(
        [&](Worker& w) {
          const Range mine = w.part(parts);
          int* const to = w.scratch<int>(2 * mine.size());
          for (std::int64_t p = mine.from; p < mine.to; ++p) to[2 * (p - mine.from) + 1] = static_cast<int>(p);
          w.sync();
          if (w.index() == 0) w.each_part_of_sum<int>(parts, 2, [&](const int* part) { seen.push_back(part[1]); });
        },
        members);
    EXPECT_EQ(seen, (std::vector<int>{0, 1, 2, 3, 4, 5, 6}));
  }
}

TEST(AlignedBytes, GrowsAndKeeps) {
  AlignedBytes bytes;
  EXPECT_EQ(bytes.data(), nullptr);
  EXPECT_FALSE(bytes.reserve(0));
  EXPECT_TRUE(bytes.reserve(100));
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(bytes.data()) % AlignedBytes::alignment, 0U);
  EXPECT_GE(bytes.capacity(), 100U);
  const std::byte* before = bytes.data();
  EXPECT_FALSE(bytes.reserve(64));
  EXPECT_EQ(bytes.data(), before);
  EXPECT_TRUE(bytes.reserve(1000));
  AlignedBytes moved = std::move(bytes);
  EXPECT_GE(moved.capacity(), 1000U);
}

}  // namespace
}  // namespace crochet::kernel
