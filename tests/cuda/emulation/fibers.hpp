// SPDX-License-Identifier: Apache-2.0
// A grid of thread blocks on one thread of the host: each thread of the grid is a fiber, which runs until it reaches a
// barrier. Finds barriers that are missing (with the three orders), barriers that only some threads reach, and missing
// waits for asynchronous copies.
// fibers.cpp switches between the fibers; it is compiled once, with optimization.
#pragma once
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <vector>

#include <crochet/kernels/cuda/block.hpp>

#include "started_copies.hpp"
#include "tensor_cores.hpp"

namespace emulation {

/// The order in which the threads between two barriers run.
enum class Order : std::uint8_t { forward, backward, shuffled };

/// What a thread of the grid waits for.
enum class Waiting : std::uint8_t { nothing, warp, block, grid, finished };

class FiberBlock;

class FiberGrid {
 public:
  static constexpr int threads = 256;

  explicit FiberGrid(int blocks, Order order = Order::forward, unsigned seed = 1);
  FiberGrid(const FiberGrid&) = delete;
  FiberGrid& operator=(const FiberGrid&) = delete;
  ~FiberGrid();

  int blocks() const { return blocks_; }
  /// The clock of Block::timer(), in nanoseconds.
  std::function<std::uint64_t()> timer = [] { return std::uint64_t{0}; };

  /// Calls f(FiberBlock&) in every thread of the grid. Throws std::logic_error if some threads wait for a barrier that
  /// others never reach.
  template <class Block = FiberBlock, class F>
  void run(const F& f) {
    const auto body = [](const void* argument, FiberBlock& thread) {
      Block block(thread);
      (*static_cast<const F*>(argument))(block);
    };
    run(body, &f);
  }

 private:
  friend class FiberBlock;
  using Body = void (*)(const void*, FiberBlock&);
  struct Thread {
    Waiting waiting = Waiting::nothing;
    std::uint64_t slots[2]{};  ///< what it shows to its warp
    unsigned shuffles = 0;
    StartedCopies copies;
  };
  struct Warp {
    Fragment fragments[2][crochet::cuda::warp_size];
  };
  struct Shared {
    alignas(64) unsigned char bytes[crochet::cuda::shared_bytes];
    bool last = false;
  };
  struct Fibers;

  void run(Body body, const void* argument);
  void run_to_the_end();
  void wait(int index, Waiting what);
  /// Runs a block until all of its threads wait for the grid or are finished.
  void advance(int b);
  bool release(int b);
  [[noreturn]] void stuck(int b) const;

  int blocks_;
  std::vector<int> order_;
  std::vector<Thread> all_;
  std::vector<Shared> shared_;
  std::vector<Warp> warps_;
  std::unique_ptr<Fibers> fibers_;  ///< kept for the next run
};

/// A thread of the grid, by the interface of kernels/cuda/block.hpp. A started copy reads and writes when the thread
/// waits for it.
class FiberBlock {
 public:
  static constexpr int threads = FiberGrid::threads;
  static constexpr crochet::MatmulPrecision precision = crochet::MatmulPrecision::fp32;
  static constexpr int largest_tile = 128;

  FiberBlock(FiberGrid& grid, int index) : grid_(grid), index_(index) {}

  int thread() const { return index_ % threads; }
  int block() const { return index_ / threads; }
  int blocks() const { return grid_.blocks_; }
  void sync() { grid_.wait(index_, Waiting::block); }
  void grid_sync() { grid_.wait(index_, Waiting::grid); }
  std::uint64_t timer() const { return grid_.timer(); }
  template <class T>
  T shuffle_xor(T x, int mask) {
    static_assert(sizeof(T) <= sizeof(std::uint64_t));
    std::uint64_t bits = 0;
    std::memcpy(&bits, &x, sizeof x);
    bits = shuffled(bits, mask);
    std::memcpy(&x, &bits, sizeof x);
    return x;
  }
  template <class S>
  S& shared() {
    static_assert(sizeof(S) <= crochet::cuda::shared_bytes && alignof(S) <= 16);
    return *reinterpret_cast<S*>(grid_.shared_[static_cast<std::size_t>(block())].bytes);
  }
  bool arrive(std::uint32_t* ticket, int count);

  template <int Bytes>
  void copy_async(void* to, const void* from, bool exists) {
    mine().copies.start(to, from, exists, Bytes);
  }
  void commit_copies() { mine().copies.commit(); }
  template <int N>
  void wait_copies() {
    mine().copies.wait(N);
  }
  void multiply_tf32(float (&c)[4], const std::uint32_t (&a)[4], const std::uint32_t (&b)[2]) {
    multiply_fragments<crochet::MatmulPrecision::tf32>(lane(), c, fragments_with(fragment(a, b)));
  }
  void multiply_bf16(float (&c)[4], const std::uint32_t (&a)[4], const std::uint32_t (&b)[2]) {
    multiply_fragments<crochet::MatmulPrecision::bf16>(lane(), c, fragments_with(fragment(a, b)));
  }
  static std::uint32_t round_tf32(float x) { return tf32_of(x); }
  static std::uint32_t round_bf16(float low, float high) { return bf16_of(low) | bf16_of(high) << 16; }

 private:
  using Fragments = Fragment[crochet::cuda::warp_size];

  std::uint64_t shuffled(std::uint64_t mine, int mask);
  /// The fragments of the warp's threads.
  const Fragments& fragments_with(const Fragment& mine);
  int lane() const { return index_ % crochet::cuda::warp_size; }
  FiberGrid::Thread& mine() { return grid_.all_[static_cast<std::size_t>(index_)]; }

  FiberGrid& grid_;
  int index_;
};

/// The same with another precision of products.
template <crochet::MatmulPrecision Precision>
class FiberBlockOf : public FiberBlock {
 public:
  static constexpr crochet::MatmulPrecision precision = Precision;
  explicit FiberBlockOf(const FiberBlock& thread) : FiberBlock(thread) {}
};

}  // namespace emulation
