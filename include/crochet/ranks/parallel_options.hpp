// SPDX-License-Identifier: Apache-2.0
// The options of Parallel: how ranks divide a batch, exchange gradients, and divide the state of the optimizer.
#pragma once

#include <crochet/ranks/rank_group.hpp>
#include <crochet/ranks/wire.hpp>

namespace crochet {

/// How ranks divide a batch. `Parallel{device, communicator, {.shards = 8}}`: the same bits on 1, 2, 4 and 8 ranks.
struct ParallelOptions {
  /// The number of parts of each batch: the number of ranks times 1, 2, 4, 8, 16, 32 or 64, else compile() throws
  /// LogicError. Each part is computed by itself: with K parts on N ranks a run of a rank costs as much as K / N runs
  /// with smaller batches. A stopped training may continue on another number of ranks. See FixedShards. 0, the default:
  /// none; each rank computes all its rows at once, as without options.
  int shards = 0;
};
/// The default. `Parallel{device, communicator, BlockingExchange{.compression = Compression::bfloat16}}`: each rank
/// computes its rows at once, and waits for each exchange where the plan has it.
struct BlockingExchange {
  Compression compression = Compression::none;  ///< of gradients
};
/// `Parallel{device, communicator, OverlappedExchange{}}`: gradients are exchanged while those of earlier layers are
/// computed. The same bits as BlockingExchange. It pays where the network moves data by itself, between machines; ranks
/// on one machine move it by their processors, and lose a little. With Nccl most plans leave its kernels no room beside
/// them, so steps and exchanges run one behind the other, and BlockingExchange is faster (docs/ranks.md).
/// Memory: the gradients on the wire, once or twice more. The communicator is a NonblockingCommunicator, Solo, or with
/// GPUs a DeviceCommunicator; another one is a compile error.
struct OverlappedExchange {
  Compression compression = Compression::none;  ///< of gradients
};
/// `Parallel{device, communicator, ShardedOptimizer<4>{}}`: each of 4 ranks has a quarter of the optimizer's variables
/// for each variable of more than 16 KiB, and updates that quarter (ZeRO stage 1: Rajbhandari et al., SC 2020,
/// https://arxiv.org/abs/1910.02054).
/// - Memory of a rank with Adam: 8 / Ranks bytes a parameter in place of 8. The bytes on the wire are the same.
/// - The bits are those of BlockingExchange; clipping by a norm adds in another order.
/// - Checkpoints have the variables whole, under their names, so they are restored with any number of ranks. The chief
///   gathers them when it saves: it then has the memory of all parts.
/// - Ranks is the number of ranks: compile() throws LogicError otherwise. A rank's part of a variable has less than 2
/// GiB.
template <int Ranks>
struct ShardedOptimizer {
  static_assert(Ranks > 0,
                "crochet: ShardedOptimizer<N> divides the state of the optimizer among N ranks; N is at least 1");
};

namespace detail {
template <class Options>
inline constexpr int optimizer_parts = 0;
template <int Ranks>
inline constexpr int optimizer_parts<ShardedOptimizer<Ranks>> = Ranks;

constexpr RankGroupOptions group_options(const ParallelOptions& o) { return {.shards = o.shards}; }
constexpr RankGroupOptions group_options(const BlockingExchange& o) { return {.compression = o.compression}; }
constexpr RankGroupOptions group_options(const OverlappedExchange& o) {
  return {.compression = o.compression, .overlaps = true};
}
template <int Ranks>
constexpr RankGroupOptions group_options(const ShardedOptimizer<Ranks>&) {
  return {.optimizer_parts = Ranks};
}
}  // namespace detail

}  // namespace crochet
