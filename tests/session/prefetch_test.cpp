// SPDX-License-Identifier: Apache-2.0
// A Prefetch gives its loop the same items in the same order as a loop without one, at any timing of its thread.
#include <crochet/session/prefetch.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <numeric>
#include <stdexcept>
#include <vector>

#include <crochet/executor/step/step_executor.hpp>
#include <crochet/hook/compose.hpp>
#include <crochet/session/run_session.hpp>
#include <crochet/testing/counting_new.hpp>

namespace crochet {
namespace {

/// Makes 1, 2, ... up to `last`, then ends or fails.
struct Counting {
  int made = 0;
  int last = 1 << 30;
  std::exception_ptr then = std::make_exception_ptr(OutOfRangeError{});
  void operator()(int& item) {
    if (made == last) std::rethrow_exception(then);
    item = ++made;
  }
};

template <class Queue>
std::vector<int> taken_until(Queue& queue, auto stops) {
  std::vector<int> all;
  while (!stops()) all.push_back(queue.next());
  return all;
}
std::vector<int> numbers(int last) {
  std::vector<int> all(static_cast<std::size_t>(last));
  std::iota(all.begin(), all.end(), 1);
  return all;
}

TEST(Prefetch, WithoutAThreadTheCallerMakesTheItems) {
  Counting source{.last = 3};
  Prefetch<int> queue{std::ref(source)};
  EXPECT_EQ(queue.next(), 1);
  EXPECT_EQ(source.made, 1);  // nothing is made in advance
  EXPECT_EQ(queue.next(), 2);
  EXPECT_EQ(queue.next(), 3);
  EXPECT_THROW(queue.next(), OutOfRangeError);
  EXPECT_THROW(queue.next(), OutOfRangeError);
}

class WithAThread : public ::testing::TestWithParam<std::size_t> {};
INSTANTIATE_TEST_SUITE_P(Depth, WithAThread, ::testing::Values(1, 2, 7));

TEST_P(WithAThread, EveryItemComesOnceAndInOrderThenTheEnd) {
  Counting source{.last = 1000};
  Prefetch<int> queue{std::ref(source), GetParam()};
  Coordinator coordinator;
  queue.start(coordinator);
  std::vector<int> all;
  EXPECT_THROW(for (;;) all.push_back(queue.next()), OutOfRangeError);
  EXPECT_EQ(all, numbers(1000));
  EXPECT_THROW(queue.next(), OutOfRangeError);
  EXPECT_FALSE(coordinator.should_stop());  // the loop handles the end of the data
  coordinator.request_stop();
  EXPECT_NO_THROW(coordinator.join());
}

TEST_P(WithAThread, AnErrorComesInThePlaceOfItsItem) {
  Counting source{.last = 20, .then = std::make_exception_ptr(DataError("record 21"))};
  Prefetch<int> queue{std::ref(source), GetParam()};
  Coordinator coordinator;
  queue.start(coordinator);
  std::vector<int> all;
  EXPECT_THROW(for (;;) all.push_back(queue.next()), DataError);
  EXPECT_EQ(all, numbers(20));
  coordinator.request_stop();
  EXPECT_NO_THROW(coordinator.join());
}

TEST_P(WithAThread, NoMoreIsMadeAheadThanItsDepth) {
  std::atomic<int> made = 0;
  std::promise<void> full;
  const int depth = static_cast<int>(GetParam());
  Prefetch<int> queue{[&](int& item) {
                        item = ++made;
                        if (item == depth + 1) full.set_value();  // no item is taken yet, and every slot is filled
                        ASSERT_LE(item, depth + 1);
                      },
                      GetParam()};
  Coordinator coordinator;
  queue.start(coordinator);
  full.get_future().wait();
  coordinator.request_stop();
  coordinator.join();
  EXPECT_EQ(made, depth + 1);
}

TEST_P(WithAThread, AfterItStopsNothingIsLostAndItMayGoOn) {
  Counting source;
  Prefetch<int> queue{std::ref(source), GetParam()};
  std::vector<int> all;
  for (int round = 0; round < 5; ++round) {
    Coordinator coordinator;
    queue.start(coordinator);
    queue.start(coordinator);  // a second start has no effect
    for (int i = 0; i < 10; ++i) all.push_back(queue.next());
    coordinator.request_stop();
    coordinator.join();
    for (int i = 0; i < 10; ++i) all.push_back(queue.next());  // the ready items, then items made here
  }
  EXPECT_EQ(all, numbers(100));
}

TEST_P(WithAThread, RestartForgetsWhatLiesReady) {
  Counting source;
  Prefetch<int> queue{std::ref(source), GetParam()};
  Coordinator coordinator;
  queue.start(coordinator);
  EXPECT_EQ(queue.next(), 1);
  EXPECT_EQ(queue.next(), 2);
  queue.restart([&] { source.made = 100; });
  EXPECT_EQ(queue.next(), 101);
  EXPECT_EQ(queue.next(), 102);
  coordinator.request_stop();
  coordinator.join();
}

TEST(Prefetch, ABlockedThreadEndsWithItsCoordinator) {
  Prefetch<int> queue{[](int& item) { item = 1; }};
  Coordinator coordinator;
  queue.start(coordinator);  // the queue is soon full, and the thread waits
  coordinator.request_stop();
  EXPECT_NO_THROW(coordinator.join());
}

TEST(Prefetch, WhoWaitsForAnItemIsNotHeldUpByAStop) {
  std::promise<void> let_go;
  Coordinator coordinator;
  Prefetch<int> queue{[&](int&) {
    coordinator.request_stop("enough");  // the source then blocks
    let_go.get_future().wait();
    throw OutOfRangeError{};
  }};
  queue.start(coordinator);
  EXPECT_THROW(queue.next(), StopIteration);
  let_go.set_value();
  EXPECT_NO_THROW(coordinator.join());
}

TEST(Prefetch, TakingAnItemAllocatesNothing) {
  Prefetch<std::vector<int>> queue{[](std::vector<int>& item) { item.assign(100, 1); }, 1};
  for (int i = 0; i < 4; ++i) queue.next();
  const std::size_t before = crochet::testing::allocations();
  for (int i = 0; i < 10; ++i) queue.next();
  EXPECT_EQ(crochet::testing::allocations(), before);
}

TEST(Prefetch, OfNothingIsAnError) {
  EXPECT_THROW((Prefetch<int>{[](int&) {}, 0}), LogicError);
  EXPECT_THROW((Prefetch<int>{[](int&) {}, static_cast<std::size_t>(-1)}), LogicError) << "as a negative number";
}

// ---- In a session

TEST(Prefetch, FeedsASessionThroughARecovery) {
  std::vector<int> fed;
  bool lost = false;
  StepExecutor step{[&](auto& out) {
                      const int item = out.input("item"_n, 0);
                      if (item == 7 && !std::exchange(lost, true)) throw AbortedError("x");
                      fed.push_back(item);
                    },
                    input<int, "item">};
  Counting source{.last = 50};
  Prefetch<int> queue{std::ref(source)};
  MonitoredSession session{step, HookChain{queue.hook()}, SessionOptions{.recovery = {.initial_backoff_secs = 0}}};
  run_session(session, [&](auto& s) {
    while (!s.should_stop()) s.run(feed<"item">(queue.next()));
  });
  EXPECT_TRUE(lost);
  EXPECT_EQ(fed, numbers(50));  // the lost run was repeated with the same item
  EXPECT_EQ(session.stop_reason().hook, "the data");
}

/// A thread of the first session reports an error as soon as `now` is set.
struct LosesAPeer {
  std::atomic<bool>* now;
  void after_create_session(auto& session, Coordinator& coordinator) const {
    if (session.creation() > 1) return;
    start_thread(coordinator, "peer", [now = now] {
      now->wait(false);
      throw AbortedError("a peer is lost");
    });
  }
};
TEST(Prefetch, AWaitThatALostPeerEndsIsRecoveredFrom) {
  std::atomic<bool> lost = false;
  std::vector<int> fed;
  StepExecutor step{[&](auto& out) { fed.push_back(out.input("item"_n, 0)); }, input<int, "item">};
  std::atomic<int> draws = 0;
  std::atomic<bool> waits = true;
  int made = 0;
  Prefetch<int> queue{[&](int& item) {
                        item = ++made;
                        if (item == 8) throw OutOfRangeError{};
                        if (item != 5) return;
                        while (draws < 5) draws.wait(draws);  // then the loop waits for this item
                        lost = true;
                        lost.notify_one();
                        waits.wait(true);
                      },
                      1};
  MonitoredSession session{step, HookChain{queue.hook(), LosesAPeer{&lost}},
                           SessionOptions{.recovery = {.initial_backoff_secs = 0}}};
  const auto draw = [&](auto&) {
    ++draws;
    draws.notify_one();
    try {
      return feed<"item">(queue.next());
    } catch (const AbortedError&) {
      waits = false;
      waits.notify_one();
      throw;
    }
  };
  run_session(session, [&](auto& s) {
    while (!s.should_stop()) s.run(s.run_step_fn(draw));
  });
  EXPECT_FALSE(waits) << "the error ended the wait";
  EXPECT_EQ(session.recoveries(), 1);
  EXPECT_EQ(fed, numbers(7));
  EXPECT_EQ(session.stop_reason().hook, "the data");
}

TEST(Prefetch, AStopDuringAWaitKeepsItsReason) {
  StepExecutor step{[](auto&) {}, input<int, "item">};
  Coordinator* coordinator = nullptr;
  std::atomic<bool> waits = true;
  int made = 0;
  Prefetch<int> queue{[&](int& item) {
                        if ((item = ++made) != 3) return;
                        coordinator->request_stop(std::make_exception_ptr(IoError("a disk")), "a thread");
                        waits.wait(true);
                      },
                      1};
  MonitoredSession session{step, HookChain{queue.hook()}};
  coordinator = &session.coordinator();
  EXPECT_THROW(run_session(session,
                           [&](auto& s) {
                             try {
                               while (true) s.run(feed<"item">(queue.next()));
                             } catch (const StopIteration&) {
                               waits = false;
                               waits.notify_one();
                               throw;
                             }
                           }),
               IoError);
  EXPECT_EQ(session.stop_reason().hook, "a thread");
  EXPECT_EQ(session.stop_reason().kind, StopKind::interruption);
}

TEST(Prefetch, AnErrorOfTheSourceLeavesTheSession) {
  Counting source{.last = 3, .then = std::make_exception_ptr(DataError("damaged"))};
  Prefetch<int> queue{std::ref(source)};
  StepExecutor step{[](auto&) {}, input<int, "item">};
  MonitoredSession session{step, HookChain{queue.hook()}};
  EXPECT_THROW(run_session(session,
                           [&](auto& s) {
                             while (!s.should_stop()) s.run(feed<"item">(queue.next()));
                           }),
               DataError);
  EXPECT_EQ(session.step(), 3);
}

TEST(Run, RecoversFromASourceThatWasUnavailable) {
  int calls = 0;
  std::vector<int> fed;
  StepExecutor step{[&](auto& out) { fed.push_back(out.input("item"_n, 0)); }, input<int, "item">};
  const StopReason why = run(step, HookChain{}, [&] {
    if (++calls == 2) throw UnavailableError("storage");
    if (calls == 5) throw OutOfRangeError{};
    return feed<"item">(calls);
  });
  EXPECT_EQ(fed, (std::vector{1, 3, 4}));
  EXPECT_EQ(why.hook, "the data");
}

TEST(Run, RecoversFromASourceThatWasUnavailableToAPrefetch) {
  int calls = 0;
  Prefetch<int> queue{[&](int& item) {
    item = ++calls;
    if (item == 2) throw UnavailableError("storage");
    if (item == 5) throw OutOfRangeError{};
  }};
  std::vector<int> fed;
  StepExecutor step{[&](auto& out) { fed.push_back(out.input("item"_n, 0)); }, input<int, "item">};
  HookChain chain{queue.hook()};
  MonitoredSession<decltype(step)&, decltype(chain)&> session{
      step, chain, SessionOptions{.recovery = {.max_attempts = 2, .initial_backoff_secs = 0}}};
  run_session(session, [&](auto& s) {
    while (!s.should_stop()) s.run(s.run_step_fn([&](auto&) { return feed<"item">(queue.next()); }));
  });
  EXPECT_EQ(fed, (std::vector{1, 3, 4}));
  EXPECT_EQ(session.recoveries(), 1);
  EXPECT_EQ(session.stop_reason().hook, "the data");
}

}  // namespace
}  // namespace crochet
