// SPDX-License-Identifier: Apache-2.0
// A data set in batches. Pixels stay bytes in memory and become floats one batch at a time. A seed determines the order
// on every machine. A position (epoch, batch) can be saved and restored.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include <crochet/base/error.hpp>
#include <crochet/base/name.hpp>
#include <crochet/base/tensor_view.hpp>
#include <crochet/data/batch_order.hpp>
#include <crochet/data/data_position.hpp>
#include <crochet/data/fetch_row.hpp>
#include <crochet/data/labelled_images.hpp>

namespace crochet {

template <class Source>
class Prefetched;
template <FixedString Images, FixedString Labels>
class BatchFeeds;

/// One batch. The views are valid until the next call of next() on the Batches that they came from.
struct Batch {
  TensorView<float, 2> images;         ///< [n, pixels], 0 to 1, row-major
  TensorView<std::int32_t, 1> labels;  ///< [n]
  std::int64_t epoch;                  ///< the pass over the data, from 0
  std::int64_t index;                  ///< index of the batch in the epoch, from 0
  bool last;                           ///< the last batch of its epoch
};

/// The indices of one batch in the data set, for a data set that lives elsewhere: Batches::next_indices.
struct IndexBatch {
  TensorView<std::int32_t, 1> indices;  ///< [n]; valid until the next call of next_indices()
  std::int64_t epoch;                   ///< as in Batch
  std::int64_t index;
  bool last;
};

/// The memory of a batch.
struct BatchBuffer {
  std::vector<float> images;
  std::vector<std::int32_t> labels;
};

namespace detail {

/// Bytes as floats from 0 to 1. Not inlined: in a caller without registers to spare, or a cold one, g++ 12 does not
/// vectorize the loop.
[[gnu::noinline]] inline void bytes_to_unit(const std::uint8_t* from, std::size_t count, float* __restrict to) {
  for (std::size_t i = 0; i < count; ++i) to[i] = static_cast<float>(from[i]) * (1.0F / 255.0F);
}

}  // namespace detail

/// A finite or endless sequence of batches. Set up in one expression, in any order:
///   Batches data = fashion_mnist("train").batch(128).shuffle(1).repeat();
/// - Copies are independent but share the data set.
/// - Thread: one at a time.
/// - Two Batches with the same data, batch size and seed return the same batches.
/// - Allocates in the setup, never in next(); for next_indices() at its first call.
class Batches {
 public:
  using Batch = crochet::Batch;
  using Buffer = BatchBuffer;
  static constexpr std::int64_t endless = BatchOrder::endless;

  /// Throws LogicError unless batch_size > 0. A batch size above the size of the data set gives one batch with all
  /// examples.
  Batches(LabelledImages data, std::int64_t batch_size) : data_(std::move(data)), order_(data_.size(), batch_size) {
    make_room(buffer_);
  }

  /// Shuffles the examples of each epoch; seed and epoch number alone determine the order. It shuffles examples over
  /// the whole data set, at every position in the expression.
  Batches shuffle(std::uint64_t seed) && {
    order_.shuffle(seed);
    return std::move(*this);
  }

  /// Makes `epochs` passes over the data; without it one, without an argument endless. Throws LogicError for less than
  /// one.
  Batches repeat(std::int64_t epochs = endless) && {
    order_.repeat(epochs);
    return std::move(*this);
  }

  /// Drops an incomplete last batch of an epoch. Throws LogicError if no batch is left.
  Batches drop_remainder() && {
    order_.drop_remainder();
    return std::move(*this);
  }

  /// Only the rows of one of several ranks, of each batch: the program states the batch of all ranks. `ranks` has
  /// `rank()` and `size()`, as communicators do (ranks/communicator.hpp). Throws LogicError if a batch has fewer rows
  /// than there are ranks; call drop_remainder() before it.
  template <class Ranks>
  Batches shard(Ranks&& ranks) && {
    order_.shard(ranks.rank(), ranks.size());
    return std::move(*this);
  }

  /// These batches, made by a thread ahead of the loop. Defined in prefetched.hpp.
  [[nodiscard]] Prefetched<Batches> prefetch(std::size_t depth) &&;

  /// These batches as feeds of the placeholders with these names, which is what a session, fit() and hooks take:
  /// `data.batch(128).shuffle(1).feeds<"images", "labels">()`. Defined in batch_feeds.hpp.
  template <FixedString Images, FixedString Labels>
  [[nodiscard]] BatchFeeds<Images, Labels> feeds() &&;

  /// The next batch. Throws OutOfRangeError after the last one, at every call; a session treats it as a clean end.
  /// Cost: the conversion of the pixels; with the last batch of an epoch also the shuffle of one index per example.
  Batch next() { return next(buffer_); }

  /// next() into the caller's memory, which the views then refer to; allocates if it is too small. For several batches
  /// at the same time.
  Batch next(BatchBuffer& into) {
    order_.require_more();
    const auto rows = order_.batch_rows();
    make_room(into);
    for (std::int64_t row = 0; row < rows; ++row) {
      const auto pixels = static_cast<std::size_t>(data_.pixels());
      const std::int64_t later = row + detail::rows_ahead;
      if (later < rows) detail::fetch_row(data_.images().data() + order_[later] * pixels, pixels);
      load(order_[row], row, into);
    }
    const auto at = order_.position();
    const bool last = order_.advance();
    return {TensorView<float, 2>{into.images.data(), {rows, data_.pixels()}},
            TensorView<std::int32_t, 1>{into.labels.data(), {rows}}, at.epoch, at.batch, last};
  }

  /// The indices of the examples of the next batch, in place of next(): for a data set on a device (DeviceData). Throws
  /// OutOfRangeError as next(), LogicError for more than 2^31 - 1 examples. Allocates at the first call.
  IndexBatch next_indices() {
    order_.require_more();
    if (size() > std::numeric_limits<std::int32_t>::max())
      throw LogicError("crochet: more than 2^31 - 1 examples; split them");
    const auto rows = order_.batch_rows();
    indices_.resize(static_cast<std::size_t>(rows));
    for (std::int64_t row = 0; row < rows; ++row)
      indices_[static_cast<std::size_t>(row)] = static_cast<std::int32_t>(order_[row]);
    const auto at = order_.position();
    const bool last = order_.advance();
    return {TensorView<std::int32_t, 1>{indices_.data(), {rows}}, at.epoch, at.batch, last};
  }

  /// True when next() would throw.
  [[nodiscard]] bool done() const { return order_.done(); }

  /// The position of the next batch; after the last batch of an epoch the start of the next epoch.
  [[nodiscard]] DataPosition position() const { return order_.position(); }

  /// Sets the position, as if all batches before it had been taken. Throws LogicError for an invalid position.
  void seek(DataPosition to) { order_.seek(to); }
  /// Back to the first batch of the first epoch.
  void restart() { seek({}); }

  /// Number of complete epochs, which is the index of the current one.
  [[nodiscard]] std::int64_t epoch() const { return position().epoch; }
  /// Number of epochs in all, or `endless`.
  [[nodiscard]] std::int64_t epochs() const { return order_.epochs(); }
  /// Number of examples in the data set.
  [[nodiscard]] std::int64_t size() const { return order_.size(); }
  /// The requested number of examples in a full batch.
  [[nodiscard]] std::int64_t batch_size() const { return order_.batch_size(); }
  [[nodiscard]] std::int64_t batches_per_epoch() const { return order_.batches_per_epoch(); }

 private:
  void make_room(BatchBuffer& buffer) const {
    const auto rows = static_cast<std::size_t>(order_.most_rows());
    buffer.images.resize(rows * static_cast<std::size_t>(data_.pixels()));
    buffer.labels.resize(rows);
  }

  void load(std::size_t example, std::int64_t row, BatchBuffer& into) const {
    const auto pixels = static_cast<std::size_t>(data_.pixels());
    const std::uint8_t* from = data_.images().data() + example * pixels;
    detail::bytes_to_unit(from, pixels, into.images.data() + static_cast<std::size_t>(row) * pixels);
    into.labels[static_cast<std::size_t>(row)] = data_.labels().data()[example];
  }

  LabelledImages data_;
  BatchOrder order_;
  BatchBuffer buffer_;
  std::vector<std::int32_t> indices_;
};

/// A batch with its own memory, made ahead of the loop by a Prefetch (crochet/session/prefetch.hpp).
struct BufferedBatch {
  BatchBuffer buffer;
  Batch batch{};
  DataPosition after;  ///< the position of the data after this batch, for checkpoints

  /// Makes this the next batch of `data`.
  void take_from(Batches& data) {
    batch = data.next(buffer);
    after = data.position();
  }
};

inline Batches LabelledImages::batch(std::int64_t examples) const { return {*this, examples}; }

}  // namespace crochet
