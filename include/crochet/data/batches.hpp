// SPDX-License-Identifier: Apache-2.0
// A data set in batches: the pixels stay bytes in memory and become floats one batch at a time, in an order that a seed
// determines on every machine. A position (epoch, batch) can be saved and gone back to.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <crochet/base/error.hpp>
#include <crochet/base/tensor_view.hpp>
#include <crochet/data/labelled_images.hpp>
#include <crochet/data/shuffle.hpp>

namespace crochet {

/// One batch. The views are valid until the next call of next() on the Batches that they came from.
struct Batch {
  TensorView<float, 2> images;         ///< [n, pixels], 0 to 1, row-major
  TensorView<std::int32_t, 1> labels;  ///< [n]
  std::int64_t epoch;                  ///< which pass over the data this batch belongs to, from 0
  std::int64_t index;                  ///< its place in that epoch, from 0
  bool last;                           ///< no more batches in this epoch
};

/// Where a Batches stands: the epoch and the index in it of the batch that next() will return.
struct DataPosition {
  std::int64_t epoch = 0;
  std::int64_t batch = 0;
  friend bool operator==(const DataPosition&, const DataPosition&) = default;
};

/// The memory of a batch.
struct BatchBuffer {
  std::vector<float> images;
  std::vector<std::int32_t> labels;
};

/// An endless or finite sequence of batches. Set up in one expression, in any order:
///   Batches data = fashion_mnist("train").batch(128).shuffle(1).repeat();
///
/// Copies are independent of each other but share the data set. Not for use from several threads at once. Two Batches
/// with the same data, batch size and seed return the same batches; allocates when set up and never in next().
class Batches {
 public:
  static constexpr std::int64_t endless = std::numeric_limits<std::int64_t>::max();

  /// Throws LogicError unless batch_size > 0. A batch size above the size of the data set makes one batch of all.
  Batches(LabelledImages data, std::int64_t batch_size) : data_(std::move(data)), batch_size_(batch_size) {
    if (batch_size < 1) throw LogicError("a batch of " + std::to_string(batch_size) + " examples; ask for at least 1");
    if (data_.size() > std::numeric_limits<std::uint32_t>::max())
      throw LogicError("more than 2^32 - 1 examples; split them");
    make_room(buffer_);
  }

  /// Draws the examples of each epoch in another order, which seed and epoch number alone determine. It is always the
  /// examples that are shuffled, over the whole data set, wherever in the expression this is said.
  Batches shuffle(std::uint64_t seed) && {
    seed_ = seed;
    order_.resize(static_cast<std::size_t>(data_.size()));
    start_epoch();
    return std::move(*this);
  }

  /// Goes over the data `epochs` times; without this once, without an argument forever. Throws LogicError unless there
  /// is at least one.
  Batches repeat(std::int64_t epochs = endless) && {
    if (epochs < 1) throw LogicError("data repeated " + std::to_string(epochs) + " times; ask for at least 1");
    epochs_ = epochs;
    return std::move(*this);
  }

  /// Leaves out the last batch of an epoch if it is not full. Throws LogicError if that leaves no batch at all.
  Batches drop_remainder() && {
    if (data_.size() < batch_size_)
      throw LogicError("no full batch: " + std::to_string(data_.size()) + " examples in batches of " +
                       std::to_string(batch_size_) + "; make the batch smaller or keep the remainder");
    drop_remainder_ = true;
    return std::move(*this);
  }

  /// The next batch. Throws OutOfRangeError after the last one (a session takes that for a clean end), as often as
  /// asked. Costs the conversion of its pixels, and with the last batch of an epoch the shuffling of one index per
  /// example.
  Batch next() { return next(buffer_); }

  /// The same into memory of the caller's, which the views then point to; allocates when that is not large enough yet.
  /// So several batches can be at hand at once.
  Batch next(BatchBuffer& into) {
    if (done()) throw OutOfRangeError("end of data after " + std::to_string(epochs_) + " epoch(s)");
    const auto first = position_.batch * batch_size_;
    const auto rows = std::min(batch_size_, data_.size() - first);
    make_room(into);
    for (std::int64_t row = 0; row < rows; ++row) load(example(first + row), row, into);
    const auto at = position_;
    const bool last = at.batch + 1 == batches_per_epoch();
    if (last)
      seek({at.epoch + 1, 0});
    else
      ++position_.batch;
    return {TensorView<float, 2>{into.images.data(), {rows, data_.pixels()}},
            TensorView<std::int32_t, 1>{into.labels.data(), {rows}}, at.epoch, at.batch, last};
  }

  /// True when next() would throw.
  [[nodiscard]] bool done() const { return position_.epoch >= epochs_; }

  /// Where next() will go on; after the last batch of an epoch that is the start of the one after it.
  [[nodiscard]] DataPosition position() const { return position_; }

  /// Goes to a position, as if all batches before it had been taken. Throws LogicError if there is none such.
  void seek(DataPosition to) {
    if (to.epoch < 0 || to.epoch > epochs_ || to.batch < 0 || to.batch >= batches_per_epoch() ||
        (to.epoch == epochs_ && to.batch != 0))
      throw LogicError("no such place in the data: epoch " + std::to_string(to.epoch) + ", batch " +
                       std::to_string(to.batch) + "; there are " + std::to_string(batches_per_epoch()) +
                       " batches in an epoch");
    const bool new_order = to.epoch != position_.epoch;
    position_ = to;
    if (new_order) start_epoch();
  }

  /// Number of epochs that are complete, which is also the number of the current one, from 0.
  [[nodiscard]] std::int64_t epoch() const { return position_.epoch; }
  /// Number of epochs in all, or `endless`.
  [[nodiscard]] std::int64_t epochs() const { return epochs_; }
  /// Number of examples in the data set.
  [[nodiscard]] std::int64_t size() const { return data_.size(); }
  /// Number of examples in a full batch, as asked for.
  [[nodiscard]] std::int64_t batch_size() const { return batch_size_; }
  [[nodiscard]] std::int64_t batches_per_epoch() const {
    const bool partial = !drop_remainder_ && data_.size() % batch_size_ != 0;
    return data_.size() / batch_size_ + (partial ? 1 : 0);
  }

 private:
  void start_epoch() {
    if (!order_.empty()) shuffled_order(order_, seed_, static_cast<std::uint64_t>(position_.epoch));
  }

  std::size_t example(std::int64_t place) const {
    const auto index = static_cast<std::size_t>(place);
    return order_.empty() ? index : order_[index];
  }

  void make_room(BatchBuffer& buffer) const {
    const auto rows = static_cast<std::size_t>(std::min(batch_size_, data_.size()));
    buffer.images.resize(rows * static_cast<std::size_t>(data_.pixels()));
    buffer.labels.resize(rows);
  }

  void load(std::size_t example, std::int64_t row, BatchBuffer& into) const {
    const auto pixels = static_cast<std::size_t>(data_.pixels());
    const std::uint8_t* from = data_.images().data() + example * pixels;
    float* to = into.images.data() + static_cast<std::size_t>(row) * pixels;
    for (std::size_t i = 0; i < pixels; ++i) to[i] = static_cast<float>(from[i]) * (1.0f / 255.0f);
    into.labels[static_cast<std::size_t>(row)] = data_.labels().data()[example];
  }

  LabelledImages data_;
  std::int64_t batch_size_;
  std::int64_t epochs_ = 1;
  bool drop_remainder_ = false;
  std::uint64_t seed_ = 0;
  DataPosition position_;
  std::vector<std::uint32_t> order_;  // empty: file order
  BatchBuffer buffer_;
};

/// A batch with memory of its own, to be made ahead of the loop by a Prefetch (crochet/session/prefetch.hpp).
struct BufferedBatch {
  BatchBuffer buffer;
  Batch batch{};
  DataPosition after;  ///< where the data stand once this batch has been used: what a checkpoint needs

  /// Makes this the next batch of `data`.
  void take_from(Batches& data) {
    batch = data.next(buffer);
    after = data.position();
  }
};

inline Batches LabelledImages::batch(std::int64_t examples) const { return {*this, examples}; }

}  // namespace crochet
