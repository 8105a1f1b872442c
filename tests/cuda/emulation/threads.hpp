// SPDX-License-Identifier: Apache-2.0
// A grid of thread blocks on real threads: under ThreadSanitizer a missing barrier is a data race, whatever the order.
#pragma once
#include <atomic>
#include <barrier>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include <crochet/kernels/cuda/block.hpp>

#include "started_copies.hpp"
#include "tensor_cores.hpp"

namespace emulation {

template <crochet::MatmulPrecision Precision>
class ThreadBlockOf;
using ThreadBlock = ThreadBlockOf<crochet::MatmulPrecision::fp32>;

class ThreadGrid {
 public:
  static constexpr int threads = 256;

  explicit ThreadGrid(int blocks) : blocks_(blocks), all_(blocks * threads) {
    for (int b = 0; b < blocks; ++b) shared_.push_back(std::make_unique<Shared>());
    for (int w = 0; w < blocks * threads / crochet::cuda::warp_size; ++w) warps_.push_back(std::make_unique<Warp>());
  }

  int blocks() const { return blocks_; }
  /// The clock of Block::timer(), in nanoseconds.
  std::function<std::uint64_t()> timer = [] { return std::uint64_t{0}; };

  /// Calls f(Block&) in every thread of the grid.
  template <class Block = ThreadBlock, class F>
  void run(const F& f);

 private:
  template <crochet::MatmulPrecision Precision>
  friend class ThreadBlockOf;
  struct Warp {
    std::barrier<> barrier{crochet::cuda::warp_size};
    std::uint64_t slots[2][crochet::cuda::warp_size]{};
    Fragment fragments[2][crochet::cuda::warp_size]{};
  };
  struct Shared {
    std::barrier<> barrier{threads};
    alignas(64) unsigned char bytes[crochet::cuda::shared_bytes]{};
    bool last = false;
  };

  int blocks_;
  std::barrier<> all_;
  std::vector<std::unique_ptr<Shared>> shared_;
  std::vector<std::unique_ptr<Warp>> warps_;
};

/// A thread of the grid, by the interface of kernels/cuda/block.hpp.
template <crochet::MatmulPrecision Precision>
class ThreadBlockOf {
 public:
  static constexpr int threads = ThreadGrid::threads;
  static constexpr crochet::MatmulPrecision precision = Precision;
  static constexpr int largest_tile = 128;

  ThreadBlockOf(ThreadGrid& grid, int index) : grid_(grid), index_(index) {}

  int thread() const { return index_ % threads; }
  int block() const { return index_ / threads; }
  int blocks() const { return grid_.blocks_; }
  void sync() { mine().barrier.arrive_and_wait(); }
  void grid_sync() { grid_.all_.arrive_and_wait(); }
  std::uint64_t timer() const { return grid_.timer(); }
  template <class T>
  T shuffle_xor(T x, int mask) {
    static_assert(sizeof(T) <= sizeof(std::uint64_t));
    ThreadGrid::Warp& warp = my_warp();
    const int lane = index_ % crochet::cuda::warp_size;
    auto& slots = warp.slots[shuffles_++ % 2];  // two, because a thread may be one shuffle ahead
    std::memcpy(&slots[lane], &x, sizeof x);
    warp.barrier.arrive_and_wait();
    std::memcpy(&x, &slots[lane ^ mask], sizeof x);
    return x;
  }
  template <class S>
  S& shared() {
    static_assert(sizeof(S) <= crochet::cuda::shared_bytes && alignof(S) <= 16);
    return *reinterpret_cast<S*>(mine().bytes);
  }
  bool arrive(std::uint32_t* ticket, int count) {
    sync();
    if (thread() == 0) {
      const std::atomic_ref counter(*ticket);
      mine().last = counter.fetch_add(1, std::memory_order_acq_rel) + 1 == static_cast<std::uint32_t>(count);
      if (mine().last) counter.store(0, std::memory_order_relaxed);
    }
    sync();
    return mine().last;
  }

  template <int Bytes>
  void copy_async(void* to, const void* from, bool exists) {
    copies_.start(to, from, exists, Bytes);
  }
  void commit_copies() { copies_.commit(); }
  template <int N>
  void wait_copies() {
    copies_.wait(N);
  }
  void multiply_tf32(float (&c)[4], const std::uint32_t (&a)[4], const std::uint32_t (&b)[2]) {
    multiply<crochet::MatmulPrecision::tf32>(c, a, b);
  }
  void multiply_bf16(float (&c)[4], const std::uint32_t (&a)[4], const std::uint32_t (&b)[2]) {
    multiply<crochet::MatmulPrecision::bf16>(c, a, b);
  }
  static std::uint32_t round_tf32(float x) { return tf32_of(x); }
  static std::uint32_t round_bf16(float low, float high) { return bf16_of(low) | bf16_of(high) << 16; }

 private:
  template <crochet::MatmulPrecision P>
  void multiply(float (&c)[4], const std::uint32_t (&a)[4], const std::uint32_t (&b)[2]) {
    ThreadGrid::Warp& warp = my_warp();
    const int lane = index_ % crochet::cuda::warp_size;
    auto& slots = warp.fragments[shuffles_++ % 2];
    slots[lane] = fragment(a, b);
    warp.barrier.arrive_and_wait();
    multiply_fragments<P>(lane, c, slots);
  }
  ThreadGrid::Warp& my_warp() { return *grid_.warps_[static_cast<std::size_t>(index_ / crochet::cuda::warp_size)]; }
  ThreadGrid::Shared& mine() { return *grid_.shared_[static_cast<std::size_t>(block())]; }

  ThreadGrid& grid_;
  int index_;
  unsigned shuffles_ = 0;
  StartedCopies copies_;
};

template <class Block, class F>
void ThreadGrid::run(const F& f) {
  std::vector<std::thread> all;
  all.reserve(static_cast<std::size_t>(blocks_ * threads));
  for (int i = 0; i < blocks_ * threads; ++i) {
    all.emplace_back([this, &f, i] {
      all_.arrive_and_wait();  // or the first threads are over before the last ones start
      Block block(*this, i);
      f(block);
    });
  }
  for (std::thread& t : all) t.join();
}

}  // namespace emulation
