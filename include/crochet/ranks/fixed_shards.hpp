// SPDX-License-Identifier: Apache-2.0
// FixedShards: the rows of a batch in a number of parts that does not depend on the number of ranks.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <crochet/base/config.hpp>
#include <crochet/base/error.hpp>
#include <crochet/base/message.hpp>
#include <crochet/ranks/communicator.hpp>
#include <crochet/ranks/ordered_sum.hpp>
#include <crochet/ranks/roll_call.hpp>

namespace crochet {

/// Shard s of K has rows n s / K to n (s + 1) / K of a batch of n rows. Rank r of N has the shards r K / N to
/// (r + 1) K / N, which are the rows that `shard(ranks)` gives it. Each shard is computed by itself, and all sums over
/// shards are made along one tree; so a result has the same bits for each number of ranks.
class FixedShards {
 public:
  static constexpr int most_of_rank = 64;

  /// `all`: the number of shards; 0: none, the rows of each rank are one part. Throws LogicError, on all ranks, unless
  /// the ranks have equal numbers of them and that number is a power of two up to most_of_rank.
  FixedShards(int all, int rank, int ranks) : all_(all), here_(all == 0 ? 1 : all / ranks), rank_(rank), first_(2) {
    if (all == 0) return;
    const bool power_of_two = here_ > 0 && (here_ & (here_ - 1)) == 0;
    if (all < 0 || here_ * ranks != all || !power_of_two || here_ > most_of_rank) refuse(ranks);
    first_.resize(static_cast<std::size_t>(here_) + 1);
  }

  /// The number of shards of all ranks; 0: none.
  [[nodiscard]] int all() const { return all_; }
  /// The number of parts that this rank computes.
  [[nodiscard]] int here() const { return here_; }
  /// After divide(): the number of rows of the batch; before it 0.
  [[nodiscard]] std::int64_t rows() const { return rows_; }
  /// After divide(): the number of rows of the batch before this rank's shard `shard`, which is 0 to here().
  [[nodiscard]] std::int64_t row_before(int shard) const { return first_[static_cast<std::size_t>(shard)]; }

  /// Divides a batch of which each rank has the rows that it states. Throws LogicError, on all ranks, if there are
  /// fewer rows than shards, or if a rank has others than its shards.
  void divide(std::span<const Presence> ranks) {
    rows_ = 0;
    for (const Presence& p : ranks) rows_ += p.rows;
    if (all_ == 0) return take_rows_of_ranks(ranks);
    if (rows_ > 0 && rows_ < all_) refuse_batch();
    std::int64_t before = 0;
    for (std::size_t r = 0; r < ranks.size(); ++r) {
      if (before != first_row(static_cast<int>(r) * here_)) refuse_rows(static_cast<int>(r));
      before += ranks[r].rows;
    }
    for (int j = 0; j <= here_; ++j) first_[static_cast<std::size_t>(j)] = first_row(rank_ * here_ + j);
    parts_ = all_;
    equal_ = rows_ % all_ == 0;
  }

  /// Collective, after divide(). `to` gets the sum over the shards of all ranks, or the mean weighted by their rows.
  /// from[j]: the values of this rank's shard j.
  template <class T, Communicator C>
  void reduce(OrderedSum& sums, C& communicator, std::span<const void* const> from, std::span<T> to, bool mean) const {
    const bool weighted = mean && !equal_;  // equal shards need no weights
    T weights[most_of_rank];
    for (std::size_t j = 0; j < from.size(); ++j) {
      weights[j] = weighted ? static_cast<T>(first_[j + 1] - first_[j]) : T(1);
    }
    const T total = weighted ? static_cast<T>(rows_) : mean ? static_cast<T>(parts_) : T(1);
    sums.run_shards<T>(communicator, from, {weights, from.size()}, total, to);
  }

 private:
  [[nodiscard]] std::int64_t first_row(int shard) const { return rows_ * shard / all_; }
  void take_rows_of_ranks(std::span<const Presence> ranks) {
    const auto mine = static_cast<std::size_t>(rank_);
    first_[0] = 0;
    for (const Presence& p : ranks.first(mine)) first_[0] += p.rows;
    first_[1] = first_[0] + ranks[mine].rows;
    parts_ = static_cast<int>(ranks.size());
    equal_ = std::all_of(ranks.begin(), ranks.end(), [&](const Presence& p) { return p.rows == ranks[0].rows; });
  }

  [[noreturn]] CROCHET_COLD void refuse(int ranks) const {
    throw LogicError(detail::message(
        {"crochet: Parallel's shards is ", all_, " with ", ranks, " rank", ranks == 1 ? "" : "s",
         "; give the number of ranks times 1, 2, 4, 8, 16, 32 or 64, so that each rank has as many of them"}));
  }
  [[noreturn]] CROCHET_COLD void refuse_batch() const {
    throw LogicError(
        detail::message({"crochet: a batch of ", rows_, " rows has fewer rows than Parallel's shards, which are ", all_,
                         "; drop or pad the last batch, or give fewer shards"}));
  }
  [[noreturn]] CROCHET_COLD void refuse_rows(int rank) const {
    throw LogicError(
        detail::message({"crochet: with Parallel's shards, rank ", rank, " needs the rows of the batch from number ",
                         first_row(rank * here_), " on; divide the batches by shard(ranks)"}));
  }

  int all_, here_, rank_;
  std::int64_t rows_ = 0;  ///< of the batch
  std::vector<std::int64_t> first_;
  int parts_ = 0;      ///< of all ranks
  bool equal_ = true;  ///< all parts have as many rows
};

}  // namespace crochet
