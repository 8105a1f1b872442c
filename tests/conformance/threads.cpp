// SPDX-License-Identifier: Apache-2.0
// The threads of a session: spec 3.7, 5.3.
#include <crochet/session/threads.hpp>

#include <array>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <stop_token>

#include "behaviour.hpp"
#include "scenario.hpp"

namespace crochet::conformance {
namespace threads_scenarios {

/// Three threads that run until a stop is requested.
struct Threads {
  std::array<std::atomic<bool>, 3> running{};

  explicit Threads(Coordinator& coordinator) {
    for (auto& flag : running) {
      flag = true;
      start_thread(coordinator, "worker", [&flag](std::stop_token stop) {
        std::mutex mutex;
        std::condition_variable_any told;
        std::unique_lock lock{mutex};
        told.wait(lock, stop, [] { return false; });
        flag = false;
      });
    }
  }
  [[nodiscard]] int alive() const {
    int count = 0;
    for (const auto& flag : running) count += flag ? 1 : 0;
    return count;
  }
};

SAME(C6, "three threads of the coordinator; a run, one that fails, close",
     "they live through the runs, are dead after close; session and coordinator say stop") {
  World world;
  SingularMonitoredSession session{Machine{world}};  // waits on the real clock for its threads
  Threads threads{session.coordinator()};
  train(session);
  EXPECT_EQ(threads.alive(), 3);
  world.fail_run(2, ShapeError("a bad feed"));
  EXPECT_THROW(train(session), ShapeError);
  EXPECT_EQ(threads.alive(), 3);
  session.close();
  EXPECT_EQ(threads.alive(), 0);
  EXPECT_TRUE(session.should_stop());
  EXPECT_TRUE(session.coordinator().should_stop());
}

SAME(C7, "three threads of the coordinator; runs, close",
     "they are dead after close; session and coordinator say stop") {
  World world;
  SingularMonitoredSession session{Machine{world}};  // waits on the real clock for its threads
  Threads threads{session.coordinator()};
  train(session);
  train(session);
  EXPECT_EQ(threads.alive(), 3);
  session.close();
  EXPECT_EQ(threads.alive(), 0);
  EXPECT_TRUE(session.should_stop());
  EXPECT_TRUE(session.coordinator().should_stop());
}

}  // namespace threads_scenarios
}  // namespace crochet::conformance
