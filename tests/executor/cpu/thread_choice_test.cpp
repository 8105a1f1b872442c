// SPDX-License-Identifier: Apache-2.0
// ThreadChoice on simulated costs of 1 to 128 threads: it finds the best number, follows changes, stands noise, and
// tries cost little.
#include <crochet/executor/cpu/thread_choice.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

namespace crochet::cpu {
namespace thread_choice_test {

/// A machine: the time of a run in nanoseconds, by its work and the number of threads.
struct Machine {
  double work = 1e6;    ///< on one thread
  double serial = 0;    ///< the part of it that is not divided
  double signal = 150;  ///< of one barrier between near cores; it takes longer for more threads
  int barriers = 4;

  double at(int threads) const {
    if (threads == 1) return work;
    return serial * work + (1 - serial) * work / threads + barriers * signal * (1 + 0.1 * threads);
  }
};

/// Runs on a machine with a choice, and sums the times.
class Simulation {
 public:
  Simulation(int limit, const Machine& m) : machine(m), choice(limit, limit), limit_(limit) {}

  void run(std::int64_t runs) {
    for (std::int64_t i = 0; i < runs; ++i) {
      const bool timed = choice.times_next();
      const int threads = choice.threads();
      ASSERT_GE(threads, 1);
      ASSERT_LE(threads, limit_);
      const double ns = machine.at(threads) * noise();
      time += ns;
      if (timed) choice.took(static_cast<std::int64_t>(ns));
    }
  }
  /// The best number of threads among 1, 2, 4, ... and the limit.
  int best() const {
    int best = limit_;
    for (int n = 1; n < limit_; n *= 2) best = machine.at(n) < machine.at(best) ? n : best;
    return best;
  }
  double best_time() const { return machine.at(best()); }

  Machine machine;
  ThreadChoice choice;
  double time = 0;
  double jitter = 0;          ///< a run takes up to this share longer
  double interruptions = 0;   ///< the probability of an interruption
  double interruption = 3e6;  ///< its length

 private:
  double noise() {
    const double longer = 1 + jitter * uniform();
    return uniform() < interruptions ? longer + interruption / machine.at(choice.threads()) : longer;
  }
  double uniform() {
    state_ = state_ * 6364136223846793005U + 1442695040888963407U;
    return static_cast<double>(state_ >> 40U) / 16777216.0;
  }
  int limit_;
  std::uint64_t state_ = 7;
};

TEST(ThreadChoice, FindsTheBestNumber) {
  for (int limit : {2, 3, 6, 16, 64, 128}) {
    for (double work = 300; work < 1e9; work *= 3) {
      for (double serial : {0.0, 0.1}) {
        Simulation s(limit, {.work = work, .serial = serial});
        s.run(400);
        EXPECT_LE(s.machine.at(s.choice.chosen()), 1.03 * s.best_time())
            << work << " ns, limit " << limit << ": " << s.choice.chosen() << " instead of " << s.best();
      }
    }
  }
}

TEST(ThreadChoice, OfEqualTimesItTakesTheFewestThreads) {
  Simulation s(16, {.work = 1e5, .serial = 1, .signal = 0});
  s.run(400);
  EXPECT_EQ(s.choice.chosen(), 1);
}

TEST(ThreadChoice, TheFirstRunsHaveTheNumberThatItIsGiven) {
  ThreadChoice choice(8, 4, 3);
  for (int i = 0; i < 3; ++i) {
    EXPECT_FALSE(choice.times_next());
    EXPECT_EQ(choice.threads(), 4);
  }
  EXPECT_TRUE(choice.times_next());
  EXPECT_EQ(choice.threads(), 4);
}

// At most 0.5 % of the time goes to tries, and to runs with another number than the best, once the best is known.
TEST(ThreadChoice, TriesCostLittle) {
  for (double work : {300.0, 2400.0, 76'000.0, 5e6}) {
    for (double signal : {100.0, 3000.0}) {
      Simulation s(2, {.work = work, .signal = signal});
      s.run(200);
      s.time = 0;
      const std::int64_t runs = 2'000'000;
      s.run(runs);
      EXPECT_LE(s.time, 1.006 * static_cast<double>(runs) * s.best_time()) << work << " ns, signal " << signal;
    }
  }
}

TEST(ThreadChoice, FollowsCoresThatMoveApart) {
  Simulation s(2, {.work = 20'000, .signal = 150});
  s.run(10'000);
  EXPECT_EQ(s.choice.chosen(), 2);
  s.machine.signal = 10'000;
  s.run(1'500);
  EXPECT_EQ(s.choice.chosen(), 1);
  s.run(100'000);
  EXPECT_EQ(s.choice.chosen(), 1);
}

TEST(ThreadChoice, UsesACoreThatBecomesFree) {
  for (double work : {20'000.0, 1e6, 5e7}) {
    Simulation s(2, {.work = work, .signal = 2 * work});  // the other core is busy: a signal waits
    s.run(10'000);
    EXPECT_EQ(s.choice.chosen(), 1);
    s.machine.signal = 150;
    s.run(30'000);
    EXPECT_EQ(s.choice.chosen(), 2) << work;
  }
}

TEST(ThreadChoice, LongRunsUseACoreThatBecomesFreeWithinSeconds) {
  Simulation s(2, {.work = 100e6, .signal = 15e6});  // another program uses the second core, too
  s.run(200);
  ASSERT_EQ(s.choice.chosen(), 1);
  s.machine.signal = 150;
  std::int64_t runs = 0;
  for (; s.choice.chosen() == 1 && runs < 10'000; ++runs) s.run(1);
  EXPECT_LE(runs, 200);  // 20 s; 4,096 runs if their number alone decided
}

TEST(ThreadChoice, StandsNoise) {
  for (double work : {2400.0, 76'000.0, 5e6}) {
    for (double signal : {100.0, 20'000.0}) {
      Simulation s(4, {.work = work, .signal = signal});
      s.jitter = 0.3;
      s.interruptions = 0.01;
      s.interruption = 3 * work;
      s.run(300);
      s.time = 0;
      const std::int64_t runs = 300'000;
      s.run(runs);
      // What a simulation without tries would take: each run is 15 % longer on average, and one in 100 by more.
      EXPECT_LE(s.time, 1.02 * static_cast<double>(runs) * (1.15 * s.best_time() + 0.01 * 3 * work))
          << work << " ns, signal " << signal << ", chosen " << s.choice.chosen() << ", best " << s.best();
    }
  }
}

// A machine that is always slower than its best time does not make it try again and again.
TEST(ThreadChoice, SlowRunsAloneDoNotKeepItTrying) {
  Simulation s(2, {.work = 10'000, .signal = 8'000});
  s.jitter = 3;
  s.run(300'000);
  std::int64_t tries = 0;
  for (int i = 0; i < 1'000'000; ++i) {
    s.run(1);
    tries += s.choice.trying() ? 1 : 0;
  }
  EXPECT_LE(tries, 10'000);
}

/// Runs until tries have begun, and ends the first of them with a time of `ns`.
void end_a_try_with(Simulation& s, std::int64_t ns) {
  while (!s.choice.trying()) s.run(1);
  ASSERT_TRUE(s.choice.times_next());
  s.choice.took(ns);
}

// The program is stopped for an hour during a try. That is no cost of the tries: a core that becomes free is used.
TEST(ThreadChoice, AnInterruptionOfATryIsNoCostOfTheTries) {
  constexpr std::int64_t hour = 3'600'000'000'000;
  Simulation s(2, {.work = 20'000, .signal = 40'000});
  end_a_try_with(s, hour);
  s.run(10'000);
  EXPECT_EQ(s.choice.chosen(), 1);
  s.machine.signal = 150;
  s.run(30'000);
  EXPECT_EQ(s.choice.chosen(), 2);
}

TEST(ThreadChoice, RecoversFromAClockThatGoesBack) {
  constexpr std::int64_t hour = 3'600'000'000'000;
  for (const double signal : {150.0, 40'000.0}) {
    Simulation s(2, {.work = 20'000, .signal = signal});
    end_a_try_with(s, -hour);
    s.run(10'000);
    EXPECT_EQ(s.choice.chosen(), s.best()) << signal;
  }
}

// All times are 0: it takes one thread, and tries remain rare.
TEST(ThreadChoice, StandsAClockThatStandsStill) {
  Simulation s(16, {.work = 0, .serial = 1, .signal = 0});
  s.run(1'000);
  EXPECT_EQ(s.choice.chosen(), 1);
  int tries = 0;
  for (int i = 0; i < 100'000; ++i) {
    s.run(1);
    tries += s.choice.trying() ? 1 : 0;
  }
  EXPECT_LE(tries, 2'000);
}

TEST(ThreadChoice, ARunThatFailedIsTriedAgain) {
  ThreadChoice choice(2, 2, 0);
  EXPECT_TRUE(choice.times_next());
  EXPECT_TRUE(choice.times_next());
  for (int i = 0; i < 4; ++i) choice.took(100'000);
  EXPECT_TRUE(choice.times_next());
  EXPECT_EQ(choice.threads(), 1);
}

}  // namespace thread_choice_test
}  // namespace crochet::cpu
