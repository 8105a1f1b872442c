// SPDX-License-Identifier: Apache-2.0
#include "fibers.hpp"

#include <boost/context/fiber.hpp>
#include <boost/context/pooled_fixedsize_stack.hpp>

#include <algorithm>
#include <numeric>
#include <random>
#include <stdexcept>
#include <string>

namespace emulation {

/// The fibers of a grid. A fiber that has finished waits for the next run.
struct FiberGrid::Fibers {
  using Fiber = boost::context::fiber;
  struct Pair {
    Fiber thread, back;
  };

  boost::context::pooled_fixedsize_stack stacks{std::size_t{64} << 10};
  std::vector<Pair> all;
  Body body = nullptr;
  const void* argument = nullptr;
  bool ends = false;

  explicit Fibers(FiberGrid& grid) : all(grid.order_.size()) {
    for (std::size_t i = 0; i < all.size(); ++i) {
      all[i].thread = Fiber(std::allocator_arg, stacks, [this, &grid, i](Fiber&& back) -> Fiber {
        all[i].back = std::move(back);
        while (!ends) {
          FiberBlock block(grid, static_cast<int>(i));
          body(argument, block);
          grid.wait(static_cast<int>(i), Waiting::finished);
        }
        return std::move(all[i].back);
      });
    }
  }
  Fibers(const Fibers&) = delete;
  Fibers& operator=(const Fibers&) = delete;
  /// Lets the fibers that have finished a run return. Those in the middle of one are unwound.
  void end() {
    ends = true;
    for (Pair& p : all) p.thread = std::move(p.thread).resume();
  }
  ~Fibers() = default;
};

FiberGrid::FiberGrid(int blocks, Order order, unsigned seed)
    : blocks_(blocks),
      order_(static_cast<std::size_t>(blocks * threads)),
      shared_(static_cast<std::size_t>(blocks)),
      warps_(order_.size() / crochet::cuda::warp_size) {
  std::iota(order_.begin(), order_.end(), 0);
  for (int b = 0; b < blocks; ++b) {
    const auto first = order_.begin() + b * threads, last = first + threads;
    if (order == Order::backward) std::reverse(first, last);
    if (order == Order::shuffled) std::shuffle(first, last, std::mt19937(seed + static_cast<unsigned>(b)));
  }
}
FiberGrid::~FiberGrid() {
  if (fibers_ != nullptr) fibers_->end();
}

void FiberGrid::run(Body body, const void* argument) {
  all_.assign(order_.size(), {});
  for (Shared& s : shared_) std::memset(s.bytes, 0xFF, sizeof s.bytes);  // NaN, or -1
  if (fibers_ == nullptr) fibers_ = std::make_unique<Fibers>(*this);
  fibers_->body = body;
  fibers_->argument = argument;
  try {
    run_to_the_end();
  } catch (...) {
    fibers_.reset();  // they wait in the middle of the run
    throw;
  }
}

void FiberGrid::run_to_the_end() {
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

void FiberGrid::wait(int index, Waiting what) {
  const auto i = static_cast<std::size_t>(index);
  all_[i].waiting = what;
  boost::context::fiber& back = fibers_->all[i].back;
  back = std::move(back).resume();
}

void FiberGrid::advance(int b) {
  do {
    for (int k = b * threads; k < (b + 1) * threads; ++k) {
      const auto i = static_cast<std::size_t>(order_[static_cast<std::size_t>(k)]);
      if (all_[i].waiting != Waiting::nothing) continue;
      boost::context::fiber& thread = fibers_->all[i].thread;
      thread = std::move(thread).resume();
    }
  } while (release(b));
}

/// Lets warps, or the block, go on; returns whether there are any.
bool FiberGrid::release(int b) {
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

void FiberGrid::stuck(int b) const {
  static constexpr const char* names[] = {"nothing", "its warp", "a barrier of the block", "a barrier of the grid",
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

bool FiberBlock::arrive(std::uint32_t* ticket, int count) {
  sync();
  FiberGrid::Shared& s = grid_.shared_[static_cast<std::size_t>(block())];
  if (thread() == 0) {
    s.last = ++*ticket == static_cast<std::uint32_t>(count);
    if (s.last) *ticket = 0;
  }
  sync();
  return s.last;
}

/// Each thread shows its bits in one of two slots, because a thread may be one shuffle ahead.
std::uint64_t FiberBlock::shuffled(std::uint64_t mine, int mask) {
  FiberGrid::Thread& t = grid_.all_[static_cast<std::size_t>(index_)];
  const unsigned slot = t.shuffles++ % 2;
  t.slots[slot] = mine;
  grid_.wait(index_, Waiting::warp);
  return grid_.all_[static_cast<std::size_t>(index_ ^ mask)].slots[slot];
}

/// In one of two places, as shuffled().
const FiberBlock::Fragments& FiberBlock::fragments_with(const Fragment& mine) {
  FiberGrid::Warp& warp = grid_.warps_[static_cast<std::size_t>(index_ / crochet::cuda::warp_size)];
  Fragments& place = warp.fragments[grid_.all_[static_cast<std::size_t>(index_)].shuffles++ % 2];
  place[lane()] = mine;
  grid_.wait(index_, Waiting::warp);
  return place;
}

}  // namespace emulation
