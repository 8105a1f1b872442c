// SPDX-License-Identifier: Apache-2.0
// The team: every member runs, every wait ends, and the parts of the work cover all of it exactly once.
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
