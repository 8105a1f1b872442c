// SPDX-License-Identifier: Apache-2.0
// The executor's threads. A busy team forks and joins in a fraction of a microsecond: members spin briefly, then block.
// The split of work is fixed for a given number of members, so results are reproducible.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <type_traits>
#include <utility>
#include <vector>

#include <crochet/base/config.hpp>
#include <crochet/kernels/aligned_bytes.hpp>
#include <crochet/kernels/barrier.hpp>
#include <crochet/kernels/thread.hpp>

namespace crochet {

namespace kernel {

/// The part [from, to) of [0, n).
struct Range {
  std::int64_t from = 0;
  std::int64_t to = 0;
  std::int64_t size() const { return to - from; }
};

/// One member of the team while a step runs: its share of the work, its barrier, its scratch memory.
class Worker {
 public:
  Worker(int index, int count, Barrier& barrier, std::vector<AlignedBytes>& scratch)
      : index_(index), count_(count), mine_(index), barrier_(barrier), scratch_(scratch) {}

  /// This member as a team of one, for work that every member does independently.
  Worker alone() const {
    Worker one = *this;
    one.index_ = 0;
    one.count_ = 1;
    return one;
  }

  int index() const { return index_; }
  int count() const { return count_; }
  /// Waits until all members have arrived.
  void sync() {
    if (count_ > 1) barrier_.wait(index_);
  }

  /// This member's part of [0, n), in units of `grain`; fixed for a fixed number of members. The remainder goes to the
  /// first members: the calling thread starts before the others are notified, and its results are in its own cache.
  Range part(std::int64_t n, std::int64_t grain = 1) const {
    const std::int64_t units = (n + grain - 1) / grain;
    const std::int64_t some = count_ - 1;
    const std::int64_t from = (units * index_ + some) / count_ * grain,
                       to = (units * (index_ + 1) + some) / count_ * grain;
    return {from < n ? from : n, to < n ? to : n};
  }

  /// This member's scratch memory, for `n` values of T. Valid until the next call of scratch(). Allocates only to grow.
  /// Throws ResourceExhaustedError, with the number of bytes, if there is no memory; this ends the run of the whole
  /// team.
  template <class T>
  T* scratch(std::int64_t n) {
    AlignedBytes& mine = scratch_[static_cast<std::size_t>(mine_)];
    mine.reserve(static_cast<std::size_t>(n) * sizeof(T), "a kernel's scratch");
    return reinterpret_cast<T*>(mine.data());
  }
  /// Another member's scratch memory; readable after a sync().
  template <class T>
  const T* scratch_of(int member) const {
    const int place = count_ == 1 ? mine_ : member;
    return reinterpret_cast<const T*>(scratch_[static_cast<std::size_t>(place)].data());
  }

 private:
  int index_, count_;
  int mine_;  ///< the owner of the scratch memory in use
  Barrier& barrier_;
  std::vector<AlignedBytes>& scratch_;
};

/// Threads that run one function together. Neither copyable nor movable.
class Team {
 public:
  /// Throws ResourceExhaustedError if the system cannot start `count` - 1 threads. Those already started are joined.
  CROCHET_COLD explicit Team(int count)
      // NOLINTNEXTLINE(bugprone-throw-keyword-missing): errors_ is a vector of exceptions
      : barrier_(count), scratch_(static_cast<std::size_t>(count)), errors_(static_cast<std::size_t>(count)) {
    threads_.reserve(static_cast<std::size_t>(count) - 1);
    try {
      for (int t = 1; t < count; ++t) threads_.emplace_back([this, t] { serve(t); });
    } catch (...) {
      end_threads();
      throw;
    }
  }
  ~Team() { end_threads(); }
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  int size() const { return static_cast<int>(scratch_.size()); }

  /// Calls body(worker) on every member; the caller is the first. Returns when all are done. An exception in a member
  /// ends the run of the others at their next barrier and is rethrown here; of several, that of the first member.
  template <class Body>
  void run(Body&& body) {
    if (!threads_.empty()) return run_together(body);
    run_alone(body);
  }
  /// Calls body(worker) on the caller alone, for work that would end before another member starts.
  template <class Body>
  void run_alone(Body&& body) {
    Worker alone(0, 1, barrier_, scratch_);
    body(alone);
  }

 private:
  /// The work of the members, read at the start of every run. It is written only if it differs from the previous run: a
  /// step run in a loop then causes no cache line transfer from the caller.
  struct alignas(64) Job {
    void (*work)(const void*, Worker&) = nullptr;
    /// the function object itself if it is small and trivially copyable, else its address
    alignas(void*) std::byte body[24]{};
    bool stop = false;

    template <class Body>
    static constexpr bool holds = std::is_trivially_copyable_v<Body> && sizeof(Body) <= sizeof body;

    template <class Body>
    void set(Body& b) {
      if constexpr (holds<Body>) {
        assign(&b, sizeof b, [](const void* p, Worker& w) { (*static_cast<Body*>(const_cast<void*>(p)))(w); });
      } else {
        Body* at = &b;
        assign(&at, sizeof at, [](const void* p, Worker& w) { (**static_cast<Body* const*>(p))(w); });
      }
    }

   private:
    void assign(const void* from, std::size_t size, void (*how)(const void*, Worker&)) {
      if (work == how && std::memcmp(body, from, size) == 0) return;
      std::memcpy(body, from, size);
      work = how;
    }
  };

  // Not inlined, so that a run with one member has no overhead.
  template <class Body>
  [[gnu::noinline]] void run_together(Body& body) {
    Worker first(0, size(), barrier_, scratch_);
    job_.set(body);
    barrier_.release();
    if (!came_to_the_end(0, [&] {
          body(first);
          barrier_.gather();
        })) {
      rethrow();
    }
  }

  /// Does a member's work in a run. Returns false if the run was broken off; all members can then start a new one.
  template <class Work>
  bool came_to_the_end(int index, Work&& work) {
    try {
      work();
      return true;
    } catch (const BrokenOff&) {
    } catch (...) {
      errors_[static_cast<std::size_t>(index)] = std::current_exception();
    }
    barrier_.break_off(index);
    barrier_.recover(index);
    return false;
  }
  [[noreturn]] CROCHET_COLD void rethrow() {
    std::exception_ptr thrown;
    for (std::exception_ptr& error : errors_) {
      if (!thrown) thrown = error;
      error = nullptr;
    }
    std::rethrow_exception(thrown);
  }

  void end_threads() {
    job_.stop = true;
    barrier_.release();
    for (Thread& t : threads_) t.join();
  }

  void serve(int index) {
    Worker me(index, size(), barrier_, scratch_);
    for (bool stop = false; !stop;) {
      came_to_the_end(index, [&] {
        barrier_.await_release(index);
        stop = job_.stop;
        if (stop) return;
        job_.work(job_.body, me);
        barrier_.leave(index);
      });
    }
  }

  Job job_;
  alignas(64) Barrier barrier_;
  std::vector<AlignedBytes> scratch_;
  std::vector<std::exception_ptr> errors_;  ///< exceptions of this run, by member
  std::vector<Thread> threads_;
};

/// A movable team.
class OwnedTeam {
 public:
  explicit OwnedTeam(int count) : team_(new Team(count)) {}
  OwnedTeam(OwnedTeam&& other) noexcept : team_(std::exchange(other.team_, nullptr)) {}
  OwnedTeam& operator=(OwnedTeam&& other) noexcept {
    std::swap(team_, other.team_);
    return *this;
  }
  ~OwnedTeam() { delete team_; }

  Team* operator->() const { return team_; }

 private:
  Team* team_;
};

}  // namespace kernel
}  // namespace crochet
