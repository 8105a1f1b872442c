// SPDX-License-Identifier: Apache-2.0
// The runs of a launch: a barrier between two of them, and the end of all runs behind one whose watched value violates
// its rule.
#pragma once
#include <crochet/kernels/cuda/call.hpp>
#include <crochet/kernels/cuda/step_clock.hpp>

namespace crochet::cuda {

namespace detail {

template <class T>
CROCHET_DEVICE_INLINE bool violates(T x, const WatchedValue& w) {
  if (w.rule == WatchRule::bounds) return static_cast<double>(x) < w.lowest || static_cast<double>(x) > w.highest;
  return x != x || (w.rule == WatchRule::finite && x - x != T{});
}
template <class T, class Block>
CROCHET_DEVICE_NOINLINE bool thread_finds_one(const Block& block, const void* data, const WatchedValue& w) {
  bool found = false;
  CROCHET_DEVICE_UNROLL(1)
  for (std::int64_t i = block.thread(); i < w.size; i += Block::threads) {
    found = found || violates(static_cast<const T*>(data)[i], w);
  }
  return found;
}

/// Checks every `stride`-th value from number `first`, each by one block, whose first thread sets the value's flag to
/// the number of the run, from 1.
template <class Block>
CROCHET_DEVICE_NOINLINE void watch_values(Block& block, const Launch& launch, int run, int first, int stride) {
  struct Found {
    int by_warp[Block::threads / warp_size];
  };
  for (int k = first; k < launch.watched_count; k += stride) {
    const WatchedValue& w = launch.watched[k];
    const void* const data = Memory{launch.bases + std::int64_t{run} * launch.base_count}.at(w.place);
    int found = w.is_double != 0 ? thread_finds_one<double>(block, data, w) : thread_finds_one<float>(block, data, w);
    for (int mask = warp_size / 2; mask > 0; mask /= 2) found |= block.shuffle_xor(found, mask);
    auto& all = block.template shared<Found>();
    if (block.thread() % warp_size == 0) all.by_warp[block.thread() / warp_size] = found;
    block.sync();
    if (block.thread() == 0) {
      for (const int other : all.by_warp) found |= other;
      if (found != 0) launch.flags[w.flag] = launch.first_run + run + 1;
    }
    block.sync();
  }
}

CROCHET_DEVICE_INLINE bool has_failed(const Launch& launch) {
  bool failed = false;
  CROCHET_DEVICE_UNROLL(1)
  for (int k = 0; k < launch.watched_count; ++k) failed = failed || launch.flags[launch.watched[k].flag] != 0;
  return failed;
}

/// The node of a graph that checks the values. One block does all of it: nodes have no barrier of all blocks, and no
/// other block may read the flags while they are written.
template <class Block>
CROCHET_DEVICE void watch_values_of_node(Block& block, const Launch& launch) {
  if (block.block() != 0) return;
  const bool failed = has_failed(launch);
  block.sync();  // all threads have read the flags before the first is written
  if (!failed) watch_values(block, launch, 0, 0, 1);
}

}  // namespace detail

/// The node of a graph runs once, without barriers of all blocks.
template <class Block>
CROCHET_DEVICE bool begins_node(Block& block, const Launch& launch, int run) {
  if (run > 0) return false;
  if (launch.first_step < launch.end_step) return !detail::has_failed(launch);
  detail::watch_values_of_node(block, launch);
  return false;
}

/// Before run number `run`, and once more behind the last one: whether there is such a run. It waits for all blocks to
/// finish the run before. No run follows one whose watched value violated its rule, also in later launches. A launch
/// that watches has one more barrier a run, and one that measures its steps has one behind the last of them.
template <class Block>
CROCHET_DEVICE_NOINLINE bool begins_run(Block& block, const Launch& launch, int run) {
  if (launch.is_node != 0) return begins_node(block, launch, run);
  const bool watches = launch.watched_count > 0, more = run < launch.times, measures = launch.step_times != nullptr;
  if (run > 0 && (more || watches || measures)) block.grid_sync();
  if (run > 0) note_time(block, launch, launch.end_step);
  if (!watches) return more;
  if (run > 0) {
    detail::watch_values(block, launch, run - 1, block.block(), block.blocks());
    if (more) block.grid_sync();
  }
  return more && !detail::has_failed(launch);
}

}  // namespace crochet::cuda
