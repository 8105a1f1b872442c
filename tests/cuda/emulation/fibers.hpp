// SPDX-License-Identifier: Apache-2.0
// A grid of thread blocks on one thread of the host: each thread of the grid is a fiber, which runs until it reaches a
// barrier. Finds barriers that are missing (with the three orders) and barriers that only some threads reach.
#pragma once
#include <boost/context/fiber.hpp>
#include <boost/context/pooled_fixedsize_stack.hpp>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <numeric>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include <crochet/kernels/cuda/block.hpp>

namespace emulation {

/// The order in which the threads between two barriers run.
enum class Order : std::uint8_t { forward, backward, shuffled };

/// What a thread of the grid waits for.
enum class Waiting : std::uint8_t { nothing, warp, block, grid, finished };

class FiberBlock;

class FiberGrid {
 public:
  static constexpr int threads = 256;

  explicit FiberGrid(int blocks, Order order = Order::forward, unsigned seed = 1)
      : blocks_(blocks), order_(static_cast<std::size_t>(blocks * threads)), shared_(static_cast<std::size_t>(blocks)) {
    std::iota(order_.begin(), order_.end(), 0);
    for (int b = 0; b < blocks; ++b) {
      const auto first = order_.begin() + b * threads, last = first + threads;
      if (order == Order::backward) std::reverse(first, last);
      if (order == Order::shuffled) std::shuffle(first, last, std::mt19937(seed + static_cast<unsigned>(b)));
    }
  }

  int blocks() const { return blocks_; }

  /// Calls f(FiberBlock&) in every thread of the grid. Throws std::logic_error if some threads wait for a barrier that
  /// others never reach.
  template <class F>
  void run(const F& f);

 private:
  friend class FiberBlock;
  struct Thread {
    boost::context::fiber fiber, back;
    Waiting waiting = Waiting::nothing;
    std::uint64_t slots[2]{};  // what it shows to its warp
    unsigned shuffles = 0;
  };
  struct Shared {
    alignas(64) unsigned char bytes[crochet::cuda::shared_bytes];
    bool last = false;
  };

  void wait(Thread& t, Waiting what) {
    t.waiting = what;
    t.back = std::move(t.back).resume();
  }
  /// Runs a block until all of its threads wait for the grid or are finished.
  void advance(int b);
  bool release(int b);
  [[noreturn]] void stuck(int b) const;

  int blocks_;
  std::vector<int> order_;
  std::vector<Thread> all_;
  std::vector<Shared> shared_;
  boost::context::pooled_fixedsize_stack stacks_{std::size_t{64} << 10};
};

/// A thread of the grid, by the interface of kernels/cuda/block.hpp.
class FiberBlock {
 public:
  static constexpr int threads = FiberGrid::threads;

  FiberBlock(FiberGrid& grid, int index) : grid_(grid), index_(index) {}

  int thread() const { return index_ % threads; }
  int block() const { return index_ / threads; }
  int blocks() const { return grid_.blocks_; }
  void sync() { grid_.wait(mine(), Waiting::block); }
  void grid_sync() { grid_.wait(mine(), Waiting::grid); }
  template <class T>
  T shuffle_xor(T x, int mask) {
    static_assert(sizeof(T) <= sizeof(std::uint64_t));
    FiberGrid::Thread& t = mine();
    const unsigned slot = t.shuffles++ % 2;  // two, because a thread may be one shuffle ahead
    std::memcpy(&t.slots[slot], &x, sizeof x);
    grid_.wait(t, Waiting::warp);
    std::memcpy(&x, &grid_.all_[static_cast<std::size_t>(index_ ^ mask)].slots[slot], sizeof x);
    return x;
  }
  template <class S>
  S& shared() {
    static_assert(sizeof(S) <= crochet::cuda::shared_bytes);
    return *reinterpret_cast<S*>(grid_.shared_[static_cast<std::size_t>(block())].bytes);
  }
  bool arrive(std::uint32_t* ticket, int count) {
    sync();
    FiberGrid::Shared& s = grid_.shared_[static_cast<std::size_t>(block())];
    if (thread() == 0) {
      s.last = ++*ticket == static_cast<std::uint32_t>(count);
      if (s.last) *ticket = 0;
    }
    sync();
    return s.last;
  }

 private:
  FiberGrid::Thread& mine() { return grid_.all_[static_cast<std::size_t>(index_)]; }

  FiberGrid& grid_;
  int index_;
};

template <class F>
void FiberGrid::run(const F& f) {
  all_ = std::vector<Thread>(order_.size());
  for (Shared& s : shared_) std::memset(s.bytes, 0xFF, sizeof s.bytes);  // NaN, or -1
  for (std::size_t i = 0; i < all_.size(); ++i) {
    all_[i].fiber = boost::context::fiber(std::allocator_arg, stacks_, [this, &f, i](boost::context::fiber&& back) {
      Thread& t = all_[i];
      t.back = std::move(back);
      FiberBlock block(*this, static_cast<int>(i));
      f(block);
      t.waiting = Waiting::finished;
      return std::move(t.back);
    });
  }
  for (;;) {
    for (int b = 0; b < blocks_; ++b) advance(b);
    const auto waits = [this](Waiting what) {
      return std::all_of(all_.begin(), all_.end(), [&](const Thread& t) { return t.waiting == what; });
    };
    if (waits(Waiting::finished)) return;
    if (!waits(Waiting::grid)) stuck(0);
    for (Thread& t : all_) t.waiting = Waiting::nothing;
  }
}

inline void FiberGrid::advance(int b) {
  do {
    for (int k = b * threads; k < (b + 1) * threads; ++k) {
      Thread& t = all_[static_cast<std::size_t>(order_[static_cast<std::size_t>(k)])];
      if (t.waiting == Waiting::nothing) t.fiber = std::move(t.fiber).resume();
    }
  } while (release(b));
}

/// Lets warps, or the block, go on; returns whether there are any.
inline bool FiberGrid::release(int b) {
  Thread* const first = all_.data() + b * threads;
  bool any = false, all_wait = true, all_done = true;
  for (int w = 0; w < threads; w += crochet::cuda::warp_size) {
    Thread* const warp = first + w;
    int waiting = 0;
    for (int l = 0; l < crochet::cuda::warp_size; ++l) {
      waiting += warp[l].waiting == Waiting::warp ? 1 : 0;
      all_wait = all_wait && warp[l].waiting == Waiting::block;
      all_done = all_done && (warp[l].waiting == Waiting::grid || warp[l].waiting == Waiting::finished);
    }
    if (waiting != crochet::cuda::warp_size) continue;
    for (int l = 0; l < crochet::cuda::warp_size; ++l) warp[l].waiting = Waiting::nothing;
    any = true;
  }
  if (all_wait) {
    for (int t = 0; t < threads; ++t) first[t].waiting = Waiting::nothing;
    return true;
  }
  if (!any && !all_done) stuck(b);
  return any;
}

inline void FiberGrid::stuck(int b) const {
  static constexpr const char* names[] = {"nothing", "a shuffle", "a barrier of the block", "a barrier of the grid",
                                          "no more (finished)"};
  std::string text =
      "emulation: threads of one barrier wait at different places, in or after block " + std::to_string(b) + ":";
  int counts[5]{};
  for (const Thread& t : all_) ++counts[static_cast<int>(t.waiting)];
  for (int k = 0; k < 5; ++k) {
    if (counts[k] > 0) text += " " + std::to_string(counts[k]) + " for " + names[k] + ";";
  }
  throw std::logic_error(text);
}

}  // namespace emulation
