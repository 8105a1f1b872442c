// SPDX-License-Identifier: Apache-2.0
// The control of a debug server's streams, without a server: active watches, breakpoints, deadlines and the memory
// budget. Several threads use these classes. The tests run under ThreadSanitizer, which programs with gRPC cannot.
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include <crochet/base/error.hpp>
#include <crochet/debug/server/breakpoints.hpp>
#include <crochet/debug/server/byte_budget.hpp>
#include <crochet/debug/server/stream_deadlines.hpp>
#include <crochet/debug/server/watch_table.hpp>
#include <crochet/debug/watch/watch_key.hpp>

namespace stream_control_test {

using namespace crochet::debug;
using Texts = std::vector<std::string>;

const WatchKey a{"net/a", 0, "DebugIdentity"}, b{"net/b", 1, "DebugNanCount"}, c{"c", 0, "DebugIdentity"};

/// The changes of the next reply: each state and its key.
Texts changes(WatchTable& watches, WatchTable::SentStates& sent) {
  Texts texts;
  const crochet::proto::EventReply reply = watches.reply(sent);
  for (const auto& change : reply.debug_op_state_changes()) {
    texts.push_back(std::to_string(change.state()) + " " +
                    to_string(WatchKey{change.node_name(), change.output_slot(), change.debug_op()}));
  }
  return texts;
}

TEST(WatchKey, IsReadAsItIsWritten) {
  for (const WatchKey& key : {a, b, c}) EXPECT_EQ(parse_watch_key(to_string(key)), key);
  for (const char* text : {"", ":", "::", "a", "a:0", "a:0:", ":0:D", "a::D", "a:x:D", "a:-1:D", "a:2147483648:D"}) {
    EXPECT_FALSE(parse_watch_key(text)) << text;
  }
}

TEST(WatchTable, SaysWhatAStreamHasNotHeard) {
  WatchTable watches;
  WatchTable::SentStates one, two;
  EXPECT_EQ(changes(watches, one), Texts{});
  watches.set(a, WatchState::on);
  watches.set(b, WatchState::breakpoint);
  EXPECT_EQ(changes(watches, one), (Texts{"2 net/a:0:DebugIdentity", "3 net/b:1:DebugNanCount"}));
  EXPECT_EQ(changes(watches, one), Texts{});
  watches.set(a, WatchState::off);
  EXPECT_EQ(changes(watches, one), Texts{"1 net/a:0:DebugIdentity"});
  EXPECT_EQ(changes(watches, one), Texts{});
  EXPECT_EQ(changes(watches, two), (Texts{"1 net/a:0:DebugIdentity", "3 net/b:1:DebugNanCount"}))
      << "another program may have heard of a, too";
}

// Several programs stream to one server, and a server cannot tell the runs of one from those of another.
TEST(WatchTable, TellsEveryStreamWhatIsOff) {
  WatchTable watches;
  watches.set(a, WatchState::on);
  watches.set(a, WatchState::off);
  for (int i = 0; i < 10; ++i) {
    WatchTable::SentStates sent;
    EXPECT_EQ(changes(watches, sent), Texts{"1 net/a:0:DebugIdentity"});
    EXPECT_EQ(changes(watches, sent), Texts{});
  }
}

TEST(WatchTable, AStreamWaitsWhereABreakpointWasSentOnIt) {
  WatchTable watches;
  WatchTable::SentStates one, two;
  (void)watches.reply(one);
  watches.set(b, WatchState::breakpoint);
  EXPECT_FALSE(one.waits_at(b)) << "set behind its last reply";
  (void)watches.reply(one);
  EXPECT_TRUE(one.waits_at(b));
  EXPECT_FALSE(one.waits_at(a));
  EXPECT_FALSE(two.waits_at(b));
  watches.set(b, WatchState::off);
  EXPECT_FALSE(watches.is_breakpoint(b));
  EXPECT_TRUE(one.waits_at(b)) << "until its next reply";
  (void)watches.reply(one);
  (void)watches.reply(two);
  EXPECT_FALSE(one.waits_at(b));
  EXPECT_FALSE(two.waits_at(b)) << "a breakpoint of before its beginning";
  watches.set(b, WatchState::breakpoint);
  (void)watches.reply(one);
  watches.set(b, WatchState::on);
  (void)watches.reply(one);
  EXPECT_FALSE(one.waits_at(b));
}

TEST(WatchTable, IsBoundedAndWhatIsOffMakesRoom) {
  WatchTable watches(2);
  WatchTable::SentStates sent;
  watches.set(a, WatchState::on);
  watches.set(b, WatchState::breakpoint);
  EXPECT_THROW(watches.set(c, WatchState::on), crochet::ResourceExhaustedError);
  watches.set(a, WatchState::off);
  EXPECT_THROW(watches.set(c, WatchState::on), crochet::ResourceExhaustedError) << "nobody has heard that it is off";
  (void)watches.reply(sent);
  watches.set(c, WatchState::on);
  ASSERT_EQ(watches.list().size(), 2U);
  EXPECT_EQ(changes(watches, sent), Texts{"2 c:0:DebugIdentity"});
}

TEST(Breakpoints, HoldUntilGoOn) {
  Breakpoints breakpoints;
  std::atomic<int> gone_on{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      Breakpoints::Hold hold(breakpoints);
      gone_on += hold.wait(600, [] { return false; }) ? 1 : 100;
    });
  }
  while (breakpoints.held() < 3) std::this_thread::yield();
  EXPECT_EQ(gone_on, 0);
  EXPECT_EQ(breakpoints.go_on(), 3U);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(gone_on, 3);
  EXPECT_EQ(breakpoints.held(), 0U);
}

TEST(Breakpoints, GoOnCountsFromTheAnnouncementOn) {
  Breakpoints breakpoints;
  Breakpoints::Hold hold(breakpoints);
  EXPECT_EQ(breakpoints.go_on(), 1U);  // before the wait
  EXPECT_TRUE(hold.wait(600, [] { return false; }));
  Breakpoints::Hold next(breakpoints);
  EXPECT_FALSE(next.wait(0, [] { return false; })) << "the time has run out";
  EXPECT_TRUE(next.wait(600, [] { return true; })) << "its sender is gone";
  breakpoints.stop();
  EXPECT_TRUE(next.wait(600, [] { return false; }));
}

TEST(StreamDeadlines, EndWhatIsSilentAndNotWhatIsHeld) {
  std::atomic<double> now{0};
  StreamDeadlines deadlines(60, [&] { return now.load(); });
  int one = 0, two = 0;
  const auto first = deadlines.open([&] { ++one; });
  const auto second = deadlines.open([&] { ++two; });
  now = 50;
  deadlines.heard(second);
  deadlines.hold(first, true);
  now = 111;
  EXPECT_EQ(deadlines.check(), 1U);
  EXPECT_EQ(one, 0);
  EXPECT_EQ(two, 1);
  EXPECT_EQ(deadlines.check(), 0U);
  deadlines.hold(first, false);
  now = 171;
  EXPECT_EQ(deadlines.check(), 0U) << "its time began anew";
  EXPECT_FALSE(deadlines.close(first));
  EXPECT_TRUE(deadlines.close(second));
}

TEST(Repeat, ActsUntilItIsDestroyed) {
  std::atomic<int> acts{0};
  {
    const Repeat repeat(0.001, [&] { ++acts; });
    while (acts < 3) std::this_thread::yield();
  }
  const int last = acts;
  std::this_thread::yield();
  EXPECT_EQ(acts, last);
  {
    const Repeat never(1e6, [&] { ++acts; });
  }  // the destructor does not wait for the interval
  EXPECT_EQ(acts, last);
}

TEST(ByteBudget, IsNotOverdrawnByManyThreads) {
  ByteBudget budget(1000);
  std::atomic<std::uint64_t> most{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int k = 0; k < 2000; ++k) {
        BytesTaken taken(budget);
        if (!taken.take(400)) continue;
        std::uint64_t seen = most;
        const std::uint64_t used = budget.used();
        while (used > seen && !most.compare_exchange_weak(seen, used)) {
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(budget.used(), 0U);
  EXPECT_LE(most, 1000U);
  EXPECT_GE(most, 400U);
}

}  // namespace stream_control_test
