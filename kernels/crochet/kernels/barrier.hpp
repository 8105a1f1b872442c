// SPDX-License-Identifier: Apache-2.0
// Barrier between the threads of a team, of which a run takes the first few.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <crochet/base/config.hpp>
#include <crochet/base/instruction_set.hpp>
#include <crochet/kernels/waiting_place.hpp>

namespace crochet::kernel::CROCHET_ISA {

/// Exception: another member of the team does not reach this barrier, nor any later one in this run.
struct BrokenOff {};

/// A barrier for threads numbered from 0. Thread 0 starts a run of the first `members` threads, which then make the
/// same sequence of calls; the other threads are not disturbed.
/// - Each thread publishes its phase in a cache line of its own, which the others read: one transfer between cores,
///   where a shared counter takes two.
/// - A waiting thread spins for a short time (Spin), then blocks. A signal wakes it.
/// - Besides the full barrier, thread 0 can start the others (`release`, `await_release`) and wait for their end
///   (`gather`, `leave`).
/// - A thread that cannot go on (an exception) calls `break_off` instead. Every other thread's next wait for it throws
///   BrokenOff, and that thread must break off as well.
/// - All members, including those that finished their work, then meet in `recover`, which resets the barrier.
class Barrier {
 public:
  /// The maximum number of members of a run.
  static constexpr int most = (1 << 12) - 1;

  explicit Barrier(int count) : members_(static_cast<std::size_t>(count)) {}

  /// Waits until all members have arrived.
  [[gnu::noinline]] void wait(int me) {
    const std::uint64_t phase = ++at(me).phase;
    if (at(me).members <= few) {
      post(me);
      wake_others(me);
      wait_for_others(me, phase);
    } else if (me == 0) {
      wait_for_others(0, phase);
      post(0);
      wake_below(0);
    } else {
      post(me);
      wake(0);
      wait_for(me, 0, phase);
      wake_below(me);
    }
  }

  /// Thread 0: starts a run of `members` threads.
  [[gnu::noinline]] void release(int members) {
    Member& first = at(0);
    first.members = members;
    start_.phase = ++first.phase;
    first.start = ((first.start >> member_bits) + 1) << member_bits | static_cast<std::uint64_t>(members);
    start_.word.store(first.start, std::memory_order_seq_cst);
    wake_below(0);
  }
  /// The other threads: wait for a release() of a run that they are members of. Returns the number of members.
  [[gnu::noinline]] int await_release(int me) {
    Member& mine = at(me);
    bool starts = false, broken = false;
    mine.place.wait_until([&] {
      const std::uint64_t word = start_.word.load(std::memory_order_seq_cst);
      const auto members = static_cast<int>(word & most);
      if (word != mine.start) {
        mine.start = word;
        mine.members = members;
        starts = me < members;
      }
      broken = !starts && me < members && start_.broken_off.load(std::memory_order_seq_cst) == word;
      return starts || broken;
    });
    if (broken) [[unlikely]]
      throw_broken_off();
    mine.phase = start_.phase;
    wake_below(me);
    return mine.members;
  }
  /// Thread 0: waits until all other members have called leave().
  [[gnu::noinline]] void gather() { wait_for_others(0, ++at(0).phase); }
  /// The other members: report that their work is done.
  void leave(int me) {
    ++at(me).phase;
    post(me);
    wake(0);
  }

  /// Ends this thread's part in the run: it will reach no further barrier.
  CROCHET_COLD void break_off(int me) {
    at(me).phase += far;
    post(me);
    if (me == 0) start_.broken_off.store(at(0).start, std::memory_order_seq_cst);  // for members that left
    wake_others(me);
  }
  /// Waits until all members are here and resets the barrier. No other call may run at the same time.
  CROCHET_COLD void recover(int me) {
    const unsigned before = recoveries_.load(std::memory_order_acquire);
    if (me != 0) {
      ++here_;
      here_.notify_all();
      recoveries_.wait(before, std::memory_order_acquire);
      return;
    }
    const int members = at(0).members;
    for (int seen = here_; seen + 1 < members; seen = here_) here_.wait(seen);
    here_ = 0;
    start_.broken_off = 0;
    for (int m = 0; m < members; ++m) at(m).arrived = at(m).phase = start_.phase;
    ++recoveries_;
    recoveries_.notify_all();
  }

 private:
  /// Up to this many members, each reads the phases of all others. With more threads than processors that would block
  /// too often, so in larger runs thread 0 waits for all and then releases them.
  static constexpr int few = 4;
  static constexpr std::uint64_t far = std::uint64_t{1} << 62U;  ///< exceeds every real distance between two threads
  static constexpr unsigned member_bits = 12;

  struct Member {
    alignas(64) std::atomic<std::uint64_t> arrived{0};  ///< the phase that this thread has reached, read by the others
    alignas(64) std::uint64_t phase = 0;                ///< this thread's own copy of the phase
    std::uint64_t start = 0;                            ///< the last Start::word that it has read
    int members = 1;                                    ///< of that run
    alignas(64) WaitingPlace place;                     ///< where it waits
  };
  struct Start {
    std::atomic<std::uint64_t> word{0};        ///< the number of the run, and in the last bits of its members
    std::uint64_t phase = 0;                   ///< at the start of the run; read by its members only
    std::atomic<std::uint64_t> broken_off{0};  ///< the word of the run that thread 0 has broken off
  };

  Member& at(int member) { return members_[static_cast<std::size_t>(member)]; }

  void post(int me) { at(me).arrived.store(at(me).phase, std::memory_order_seq_cst); }
  void wake(int member) { at(member).place.wake(); }
  void wake_others(int me) {
    for (int other = 0; other < at(me).members; ++other) {
      if (other != me) wake(other);
    }
  }
  /// A signal of thread 0 wakes the others in the order of a tree, so that a large team wakes in parallel.
  void wake_below(int me) {
    for (int child = 2 * me + 1; child <= 2 * me + 2 && child < at(me).members; ++child) wake(child);
  }

  void wait_for(int me, int member, std::uint64_t phase) {
    const std::atomic<std::uint64_t>& arrived = at(member).arrived;
    std::uint64_t seen = 0;
    // >= : it may be one phase ahead
    at(me).place.wait_until([&] { return (seen = arrived.load(std::memory_order_seq_cst)) >= phase; });
    if (seen - phase > far / 2) [[unlikely]]
      throw_broken_off();
  }
  void wait_for_others(int me, std::uint64_t phase) {
    for (int other = 0; other < at(me).members; ++other) {
      if (other != me) wait_for(me, other, phase);
    }
  }
  [[noreturn]] CROCHET_COLD static void throw_broken_off() { throw BrokenOff{}; }

  std::vector<Member> members_;
  alignas(64) Start start_;
  alignas(64) std::atomic<unsigned> recoveries_{0};
  std::atomic<int> here_{0};  ///< threads in recover()
};

}  // namespace crochet::kernel::CROCHET_ISA
