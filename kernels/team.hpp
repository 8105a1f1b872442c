// SPDX-License-Identifier: Apache-2.0
// The executor's threads. A team forks and joins in a fraction of a microsecond while it is busy: members spin briefly,
// then block. Work is split in a fixed way for a fixed count, so that results repeat.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <thread>
#include <vector>

namespace crochet {

namespace kernel {

/// Memory that starts on a cache line and is not initialised.
class AlignedBytes {
 public:
  static constexpr std::size_t alignment = 64;

  AlignedBytes() = default;
  /// Makes room for at least `bytes`; what was there is lost if it grows. Returns whether it moved.
  bool reserve(std::size_t bytes) {
    if (bytes <= capacity_) return false;
    const std::size_t rounded = (bytes + alignment - 1) / alignment * alignment;
    memory_.reset(static_cast<std::byte*>(std::aligned_alloc(alignment, rounded)));
    if (!memory_) throw std::bad_alloc();
    capacity_ = rounded;
    return true;
  }
  std::byte* data() const { return memory_.get(); }
  std::size_t capacity() const { return capacity_; }

 private:
  struct Free {
    void operator()(std::byte* p) const { std::free(p); }
  };
  std::unique_ptr<std::byte, Free> memory_;
  std::size_t capacity_ = 0;
};

/// A barrier for `count` threads: spins, then blocks.
class Barrier {
 public:
  explicit Barrier(int count) : count_(count) {}

  void wait() {
    if (count_ == 1) return;
    const unsigned phase = phase_.load(std::memory_order_acquire);
    if (arrived_.fetch_add(1, std::memory_order_acq_rel) == count_ - 1) {
      arrived_.store(0, std::memory_order_relaxed);
      phase_.store(phase + 1, std::memory_order_release);
      phase_.notify_all();
      return;
    }
    for (int spins = 0; phase_.load(std::memory_order_acquire) == phase; ++spins) {
      if (spins < spin_limit) {
        pause();
      } else {
        phase_.wait(phase, std::memory_order_acquire);
      }
    }
  }

 private:
  static constexpr int spin_limit = 4000;  // some tens of microseconds; longer helps only where no core is shared
  static void pause() {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
  }

  const int count_;
  alignas(64) std::atomic<int> arrived_{0};
  alignas(64) std::atomic<unsigned> phase_{0};
};

/// A part of [0, n).
struct Range {
  std::int64_t from = 0;
  std::int64_t to = 0;
  std::int64_t size() const { return to - from; }
};

/// One member's view of the team while a step runs.
class Worker {
 public:
  Worker(int index, int count, Barrier& barrier, std::vector<AlignedBytes>& scratch)
      : index_(index), count_(count), mine_(index), barrier_(barrier), scratch_(scratch) {}

  /// This member as a team of one: for work that each member does for itself.
  Worker alone() const {
    Worker one = *this;
    one.index_ = 0;
    one.count_ = 1;
    return one;
  }

  int index() const { return index_; }
  int count() const { return count_; }
  /// Waits until every member is here.
  void sync() {
    if (count_ > 1) barrier_.wait();
  }

  /// This member's part of [0, n), in units of `grain`; fixed for a fixed count.
  Range part(std::int64_t n, std::int64_t grain = 1) const {
    const std::int64_t units = (n + grain - 1) / grain;
    const std::int64_t from = units * index_ / count_ * grain, to = units * (index_ + 1) / count_ * grain;
    return {from < n ? from : n, to < n ? to : n};
  }

  /// This member's scratch memory, for `n` values of T; valid until its next call. Grows on first use only. If there is
  /// no memory left the program ends: the other members are waiting and could not be told.
  template <class T>
  T* scratch(std::int64_t n) noexcept {
    AlignedBytes& mine = scratch_[static_cast<std::size_t>(mine_)];
    mine.reserve(static_cast<std::size_t>(n) * sizeof(T));
    return reinterpret_cast<T*>(mine.data());
  }
  /// A member's scratch memory, another's after a sync().
  template <class T>
  const T* scratch_of(int member) const {
    const int place = count_ == 1 ? mine_ : member;
    return reinterpret_cast<const T*>(scratch_[static_cast<std::size_t>(place)].data());
  }

 private:
  int index_, count_;
  int mine_;  ///< whose scratch memory it uses
  Barrier& barrier_;
  std::vector<AlignedBytes>& scratch_;
};

/// Threads that run one function together. Not copyable, not movable.
class Team {
 public:
  explicit Team(int count) : barrier_(count), scratch_(static_cast<std::size_t>(count)) {
    for (int t = 1; t < count; ++t) threads_.emplace_back([this, t] { serve(t); });
  }
  ~Team() {
    stop_ = true;
    if (!threads_.empty()) barrier_.wait();
    for (std::thread& t : threads_) t.join();
  }
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  int size() const { return static_cast<int>(scratch_.size()); }

  /// Calls body(worker) on every member, the caller being the first; returns when all are done.
  template <class Body>
  void run(Body&& body) {
    if (!threads_.empty()) return run_together(body);
    run_alone(body);
  }
  /// The same on the caller alone: for what is done before another member has heard of it.
  template <class Body>
  void run_alone(Body&& body) {
    Worker alone(0, 1, barrier_, scratch_);
    body(alone);
  }

 private:
  // Not inlined: with one member a run is to cost nothing.
  template <class Body>
  [[gnu::noinline]] void run_together(Body& body) {
    Worker first(0, size(), barrier_, scratch_);
    work_ = [](void* b, Worker& w) { (*static_cast<Body*>(b))(w); };
    body_ = const_cast<void*>(static_cast<const void*>(&body));
    barrier_.wait();
    body(first);
    barrier_.wait();
  }

  void serve(int index) {
    Worker me(index, size(), barrier_, scratch_);
    for (;;) {
      barrier_.wait();
      if (stop_) return;
      work_(body_, me);
      barrier_.wait();
    }
  }

  Barrier barrier_;
  std::vector<AlignedBytes> scratch_;
  std::vector<std::thread> threads_;
  void (*work_)(void*, Worker&) = nullptr;
  void* body_ = nullptr;
  bool stop_ = false;
};

}  // namespace kernel
}  // namespace crochet
