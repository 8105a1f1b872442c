// SPDX-License-Identifier: Apache-2.0
// Barrier between the threads of a team.
#pragma once
#include <atomic>
#include <cstddef>
#include <vector>

#include <crochet/base/config.hpp>

namespace crochet::kernel {

/// Exception: another member of the team does not reach this barrier, nor any later one in this run.
struct BrokenOff {};

/// A barrier for `count` threads, numbered from 0. Each thread publishes its phase in a cache line of its own, which
/// the others read: one transfer between cores, where a shared counter takes two. A waiting thread spins, then blocks.
/// - Besides the full barrier, thread 0 can start the others (`release`, `await_release`) and wait for their end
///   (`gather`, `leave`).
/// - All threads must make the same sequence of these calls.
/// - A thread that cannot go on (an exception) calls `break_off` instead. Every other thread's next wait for it throws
///   BrokenOff, and that thread must break off as well.
/// - All threads, including those that finished their work, then meet in `recover`, which resets the barrier.
class Barrier {
 public:
  explicit Barrier(int count) : members_(static_cast<std::size_t>(count)) {}

  /// Waits until all threads have arrived.
  void wait(int me) {
    if (count() == 1) return;
    const unsigned phase = ++at(me).phase;
    if (count() > few && me != 0) {
      post(me);
      return wait_for(0, phase);
    }
    if (count() <= few) post(me);
    for (int other = 0; other < count(); ++other) {
      if (other != me) wait_for(other, phase);
    }
    if (count() > few) post(me);
  }

  /// Thread 0: starts the others.
  void release() {
    ++at(0).phase;
    post(0);
  }
  /// The other threads: wait for release().
  void await_release(int me) { wait_for(0, ++at(me).phase); }
  /// Thread 0: waits until all others have called leave().
  void gather() {
    const unsigned phase = ++at(0).phase;
    for (int other = 1; other < count(); ++other) wait_for(other, phase);
  }
  /// The other threads: report that their work is done.
  void leave(int me) {
    ++at(me).phase;
    post(me);
  }

  /// Ends this thread's part in the run: it will reach no further barrier.
  CROCHET_COLD void break_off(int me) {
    at(me).phase += far;
    post(me);
  }
  /// Waits until all threads are here and resets the barrier. No other call may run at the same time.
  CROCHET_COLD void recover(int me) {
    const unsigned before = recoveries_.load(std::memory_order_acquire);
    if (me != 0) {
      ++here_;
      here_.notify_all();
      recoveries_.wait(before, std::memory_order_acquire);
      return;
    }
    for (int seen = here_; seen + 1 < count(); seen = here_) here_.wait(seen);
    here_ = 0;
    for (Member& m : members_) m.arrived = m.phase = 0;
    ++recoveries_;
    recoveries_.notify_all();
  }

 private:
  /// Up to this many threads, each thread reads the phases of all others. With more threads than processors that would
  /// block too often, so in larger teams thread 0 waits for all and then releases them.
  static constexpr int few = 4;
  static constexpr int spin_limit = 4000;  // some tens of microseconds; more helps only if each thread has its own core

  static constexpr unsigned far = 1U << 30;  // exceeds every real distance between two threads

  struct Member {
    alignas(64) std::atomic<unsigned> arrived{0};  ///< the phase that this thread has reached, read by the others
    alignas(64) unsigned phase = 0;                ///< this thread's own copy of the phase
  };

  int count() const { return static_cast<int>(members_.size()); }
  Member& at(int member) { return members_[static_cast<std::size_t>(member)]; }

  void post(int me) {
    Member& m = at(me);
    // Sequentially consistent: notify_all tests whether a thread blocks, and that test must not move before the store.
    // Otherwise a notification could be lost.
    m.arrived.store(m.phase, std::memory_order_seq_cst);
    m.arrived.notify_all();
  }
  void wait_for(int member, unsigned phase) {
    const std::atomic<unsigned>& arrived = at(member).arrived;
    for (int spins = 0;; ++spins) {
      const unsigned seen = arrived.load(std::memory_order_acquire);
      if (static_cast<int>(seen - phase) >= 0) {  // >= : it may be one phase ahead; counters wrap
        if (seen - phase > far / 2) [[unlikely]]
          throw_broken_off();
        return;
      }
      if (spins < spin_limit) {
        pause();
      } else {
        arrived.wait(seen, std::memory_order_acquire);
      }
    }
  }
  [[noreturn]] CROCHET_COLD static void throw_broken_off() { throw BrokenOff{}; }
  static void pause() {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
  }

  std::vector<Member> members_;
  std::atomic<unsigned> recoveries_{0};
  std::atomic<int> here_{0};  ///< threads in recover()
};

}  // namespace crochet::kernel
