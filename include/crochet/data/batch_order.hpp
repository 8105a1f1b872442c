// SPDX-License-Identifier: Apache-2.0
// BatchOrder: which rows are in which batch of which epoch, and the position of the next batch.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <crochet/base/config.hpp>
#include <crochet/base/error.hpp>
#include <crochet/data/data_position.hpp>
#include <crochet/data/shuffle.hpp>

namespace crochet {

/// The order of `rows` rows in batches, over epochs. It holds no data.
/// - Two with the same rows, batch size, settings and seed give the same batches on every machine.
/// - Allocates in the constructor and in shuffle() only. Thread: one at a time.
class BatchOrder {
 public:
  static constexpr std::int64_t endless = std::numeric_limits<std::int64_t>::max();

  /// Requires rows > 0. Throws LogicError unless batch_size > 0, and for more than 2^32 - 1 rows.
  BatchOrder(std::int64_t rows, std::int64_t batch_size) : size_(rows), batch_size_(batch_size) {
    if (batch_size < 1) throw LogicError("crochet: a batch of " + std::to_string(batch_size) + " rows; set at least 1");
    if (rows > std::numeric_limits<std::uint32_t>::max())
      throw LogicError("crochet: batches of more than 2^32 - 1 rows; divide the data into several sets");
  }

  /// A new order in each epoch, by seed and number of the epoch alone.
  void shuffle(std::uint64_t seed) {
    seed_ = seed;
    order_.resize(static_cast<std::size_t>(size_));
    start_epoch();
  }
  /// Throws LogicError for less than one epoch.
  void repeat(std::int64_t epochs) {
    if (epochs < 1) throw LogicError("crochet: data repeated " + std::to_string(epochs) + " times; set at least 1");
    epochs_ = epochs;
  }
  /// No incomplete batch at the end of an epoch. Throws LogicError if no batch is left, or after pad().
  void drop_remainder() {
    if (pad_) fail_both();
    if (size_ < batch_size_)
      throw LogicError("crochet: no full batch: " + std::to_string(size_) + " rows in batches of " +
                       std::to_string(batch_size_) + "; make the batch smaller or keep the remainder");
    drop_ = true;
  }
  /// The last batch of an epoch is completed with the first rows of that epoch. Throws LogicError after
  /// drop_remainder().
  void pad() {
    if (drop_) fail_both();
    pad_ = true;
  }

  /// Only the rows of one of several ranks: of a batch of n rows those from n * rank / ranks to n * (rank + 1) / ranks.
  /// The position is the same on all ranks, and valid for another number of them. Throws LogicError for a rank that
  /// does not exist, or if a batch has fewer rows than there are ranks.
  void shard(int rank, int ranks) {
    if (ranks < 1 || rank < 0 || rank >= ranks)
      throw LogicError("crochet: rank " + std::to_string(rank) + " of " + std::to_string(ranks) +
                       "; ranks count from 0");
    const std::int64_t last = size_ % batch_size_;
    const std::int64_t fewest = pad_ ? batch_size_ : last != 0 && !drop_ ? last : std::min(batch_size_, size_);
    if (fewest < ranks)
      throw LogicError("crochet: a batch of " + std::to_string(fewest) + " rows for " + std::to_string(ranks) +
                       " ranks; make the batch larger, or call drop_remainder() or pad() before shard()");
    rank_ = rank, ranks_ = ranks;
  }

  /// Rows of the next batch, of this rank.
  [[nodiscard]] std::int64_t batch_rows() const {
    const std::int64_t n = rows_of_all();
    return n * (rank_ + 1) / ranks_ - n * rank_ / ranks_;
  }
  /// Rows of the largest batch, of this rank.
  [[nodiscard]] std::int64_t most_rows() const {
    const std::int64_t n = pad_ ? batch_size_ : std::min(batch_size_, size_);
    return (n + ranks_ - 1) / ranks_;
  }
  /// Index in the data of this rank's row `row` of the next batch.
  [[nodiscard]] std::size_t operator[](std::int64_t row) const {
    auto place = static_cast<std::size_t>(position_.batch * batch_size_ + first_row() + row);
    if (pad_) place %= static_cast<std::size_t>(size_);
    return order_.empty() ? place : order_[place];
  }

  /// Moves to the next batch. Returns whether the last one was the last of its epoch. Cost: then the shuffle of one
  /// index for each row.
  bool advance() {
    if (position_.batch + 1 < batches_per_epoch()) {
      ++position_.batch;
      return false;
    }
    seek({position_.epoch + 1, 0});
    return true;
  }
  /// Throws LogicError for a position outside the data.
  void seek(DataPosition to) {
    if (to.epoch < 0 || to.batch < 0 || to.batch >= batches_per_epoch())
      fail_place(to, std::to_string(batches_per_epoch()) +
                         " batches in an epoch; use the data and the batch size that the position is of");
    if (to.epoch > epochs_ || (to.epoch == epochs_ && to.batch != 0))
      fail_place(to,
                 std::to_string(epochs_) + " epoch(s), counted from 0; call repeat() with at least as many as before");
    const bool new_order = to.epoch != position_.epoch;
    position_ = to;
    if (new_order) start_epoch();
  }

  /// Throws OutOfRangeError after the last batch.
  void require_more() const {
    if (done()) throw OutOfRangeError("end of data after " + std::to_string(epochs_) + " epoch(s)");
  }
  [[nodiscard]] bool done() const { return position_.epoch >= epochs_; }
  [[nodiscard]] DataPosition position() const { return position_; }
  [[nodiscard]] std::int64_t epochs() const { return epochs_; }
  [[nodiscard]] std::int64_t size() const { return size_; }
  [[nodiscard]] std::int64_t batch_size() const { return batch_size_; }
  [[nodiscard]] std::int64_t batches_per_epoch() const {
    return size_ / batch_size_ + (!drop_ && size_ % batch_size_ != 0 ? 1 : 0);
  }

 private:
  [[noreturn]] CROCHET_COLD static void fail_both() {
    throw LogicError("crochet: both drop_remainder() and pad(); choose one of them for the last batch of an epoch");
  }
  [[noreturn]] CROCHET_COLD static void fail_place(DataPosition at, const std::string& there_are) {
    throw LogicError("crochet: no such place in the data: epoch " + std::to_string(at.epoch) + ", batch " +
                     std::to_string(at.batch) + "; there are " + there_are);
  }
  /// The first row of this rank in the next batch.
  [[nodiscard]] std::int64_t first_row() const { return ranks_ == 1 ? 0 : rows_of_all() * rank_ / ranks_; }
  /// Rows of the next batch, of all ranks.
  [[nodiscard]] std::int64_t rows_of_all() const {
    return pad_ ? batch_size_ : std::min(batch_size_, size_ - position_.batch * batch_size_);
  }
  void start_epoch() {
    if (!order_.empty()) shuffled_order(order_, seed_, static_cast<std::uint64_t>(position_.epoch));
  }

  std::int64_t size_;
  std::int64_t batch_size_;
  std::int64_t epochs_ = 1;
  bool drop_ = false;
  bool pad_ = false;
  int rank_ = 0, ranks_ = 1;
  std::uint64_t seed_ = 0;
  DataPosition position_;
  std::vector<std::uint32_t> order_;  // empty: the order of the data
};

}  // namespace crochet
