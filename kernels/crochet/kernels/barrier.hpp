// SPDX-License-Identifier: Apache-2.0
// Where the members of a team wait for each other.
#pragma once
#include <atomic>
#include <cstddef>
#include <vector>

#include <crochet/base/config.hpp>

namespace crochet::kernel {

/// A member of the team does not come to this barrier, nor to any other in this run.
struct BrokenOff {};

/// A barrier for `count` threads, numbered from 0. Each says in a cache line of its own how far it is, and the others
/// read that: one transfer between cores, where a common counter takes two. Who waits spins, then blocks. Beside the
/// barrier for all, the first may let the others go (`release`, `await_release`) and wait for them (`gather`, `leave`).
/// Every member has to take part in the same sequence of all these. A member that cannot go on (an exception) calls
/// `break_off` instead: then every other member's next wait for it throws BrokenOff, and that member breaks off as
/// well. All of them, those that came to the end of their work too, then meet in `recover`, behind which the barrier is
/// as new.
class Barrier {
 public:
  explicit Barrier(int count) : members_(static_cast<std::size_t>(count)) {}

  /// Waits until every member is here.
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

  /// The first: lets the others begin.
  void release() {
    ++at(0).phase;
    post(0);
  }
  /// The others: until they are let.
  void await_release(int me) { wait_for(0, ++at(me).phase); }
  /// The first: until all others have left.
  void gather() {
    const unsigned phase = ++at(0).phase;
    for (int other = 1; other < count(); ++other) wait_for(other, phase);
  }
  /// The others: what they did is done.
  void leave(int me) {
    ++at(me).phase;
    post(me);
  }

  /// This member comes to no barrier in this run any more.
  CROCHET_COLD void break_off(int me) {
    at(me).phase += far;
    post(me);
  }
  /// Waits until every member is here. No other call is then under way.
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
  /// Up to so many, all read from all. More would block too often where they are more than the processors: there the
  /// first waits for all and then lets them go.
  static constexpr int few = 4;
  static constexpr int spin_limit = 4000;  // some tens of microseconds; longer helps only where no core is shared

  static constexpr unsigned far = 1U << 30;  // no member is ever so far ahead of another

  struct Member {
    alignas(64) std::atomic<unsigned> arrived{0};  ///< the phase that it has reached, for the others
    alignas(64) unsigned phase = 0;                ///< its own count
  };

  int count() const { return static_cast<int>(members_.size()); }
  Member& at(int member) { return members_[static_cast<std::size_t>(member)]; }

  void post(int me) {
    Member& m = at(me);
    // In one order with the question whether somebody blocks, which notify_all asks: else both could miss each other.
    m.arrived.store(m.phase, std::memory_order_seq_cst);
    m.arrived.notify_all();
  }
  void wait_for(int member, unsigned phase) {
    const std::atomic<unsigned>& arrived = at(member).arrived;
    for (int spins = 0;; ++spins) {
      const unsigned seen = arrived.load(std::memory_order_acquire);
      if (static_cast<int>(seen - phase) >= 0) {  // it may be one further; numbers wrap
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
  std::atomic<int> here_{0};  ///< members in recover()
};

}  // namespace crochet::kernel
