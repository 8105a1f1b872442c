// SPDX-License-Identifier: Apache-2.0
// DataBatches: a data set in batches that are feeds, one for each field.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <tuple>
#include <utility>
#include <vector>

#include <crochet/base/config.hpp>
#include <crochet/data/batch_order.hpp>
#include <crochet/data/data_position.hpp>
#include <crochet/data/data_set.hpp>
#include <crochet/data/epoch_iterator.hpp>
#include <crochet/data/fetch_row.hpp>
#include <crochet/hook/run_args.hpp>

namespace crochet {

template <class Source>
class Prefetched;
template <class Source, class Function>
class MappedBatches;

/// A finite or endless sequence of batches, each as feeds:
///   DataBatches batches = training.shuffle(1).batch(32).repeat();
///   train<Model>(Cpu{}, batches, HookChain{StopAtStep{.last_step = 1000}});
/// - A batch is a feed for each field, of the field's name and type, [rows of the batch, ...].
/// - As a function object it is the data of run() and train(). As a range it is the rest of the current epoch, for
///   loops and for Evaluate, which starts each pass at the first batch of the first epoch.
/// - position() and seek() are for CheckpointInputPipeline.
/// - Copies are independent but share the data set. Two with the same data, settings and seed return the same batches.
/// - Allocates in the setup, never in next(). Thread: one at a time.
template <class... F>
class DataBatches<DataSet<F...>> {
 public:
  using Batch = Feeds<Feed<typename F::name, typename F::View>...>;
  /// The memory of a batch.
  using Buffer = std::tuple<std::vector<typename F::value_type>...>;
  static constexpr std::int64_t endless = BatchOrder::endless;

  /// Throws LogicError unless batch_size > 0. A batch size above the number of rows gives one batch of all rows.
  DataBatches(DataSet<F...> data, std::int64_t batch_size) : data_(std::move(data)), order_(data_.size(), batch_size) {
    make_room(buffer_);
  }

  /// Shuffles the rows of each epoch, over the whole data set; seed and number of the epoch alone determine the order.
  DataBatches shuffle(std::uint64_t seed) && {
    order_.shuffle(seed);
    return std::move(*this);
  }
  /// Makes `epochs` passes over the data; without it one, without an argument endless. Throws LogicError for less than
  /// one.
  DataBatches repeat(std::int64_t epochs = endless) && {
    order_.repeat(epochs);
    return std::move(*this);
  }
  /// Drops an incomplete last batch of an epoch. Throws LogicError if no batch is left.
  DataBatches drop_remainder() && {
    order_.drop_remainder();
    return std::move(*this);
  }
  /// Only the rows of one of several ranks, of each batch: the program states the batch of all ranks. `ranks` has
  /// `rank()` and `size()`, as communicators do (ranks/communicator.hpp). Throws LogicError if a batch has fewer rows
  /// than there are ranks; call drop_remainder() or pad() before it.
  template <class Ranks>
  DataBatches shard(Ranks&& ranks) && {
    order_.shard(ranks.rank(), ranks.size());
    return std::move(*this);
  }
  /// Completes the last batch of an epoch with the first rows of that epoch, so that all batches have the same size.
  /// These rows are in the epoch twice, also in the means of an evaluation. Throws LogicError after drop_remainder().
  DataBatches pad() && {
    order_.pad();
    make_room(buffer_);
    return std::move(*this);
  }

  /// These batches, each as f(arrays of its fields) makes it: `batches.map([](TensorView<float, 2> x, ...) { ... })`.
  /// Defined in mapped_batches.hpp.
  template <class Function>
  [[nodiscard]] MappedBatches<DataBatches, Function> map(Function f) &&;

  /// These batches, made by a thread ahead of the loop: `batches.shuffle(1).repeat().prefetch(2)`. Defined in
  /// prefetched.hpp.
  [[nodiscard]] Prefetched<DataBatches> prefetch(std::size_t depth) &&;

  /// The next batch; its views are valid until the next call. Throws OutOfRangeError after the last one, at every call;
  /// a session treats it as a clean end. Cost: a copy of the rows, and at the end of an epoch the shuffle.
  Batch next() { return next(buffer_); }
  /// next() into the caller's memory, which the views then refer to; allocates if it is too small.
  Batch next(Buffer& into) {
    order_.require_more();
    make_room(into);
    Batch batch = std::apply([&](auto&... values) { return Batch{load<F>(values)...}; }, into);
    order_.advance();
    return batch;
  }
  /// next().
  Batch operator()() { return next(); }

  /// True when next() would throw.
  [[nodiscard]] bool done() const { return order_.done(); }
  /// The position of the next batch; after the last batch of an epoch the start of the next epoch.
  [[nodiscard]] DataPosition position() const { return order_.position(); }
  /// Sets the position, as if all batches before it had been taken. Throws LogicError for one outside the data.
  void seek(DataPosition to) { order_.seek(to); }
  /// Back to the first batch of the first epoch.
  void restart() { seek({}); }

  /// Number of complete epochs, which is the index of the current one.
  [[nodiscard]] std::int64_t epoch() const { return position().epoch; }
  /// Number of epochs in all, or `endless`.
  [[nodiscard]] std::int64_t epochs() const { return order_.epochs(); }
  /// Number of rows in the data set.
  [[nodiscard]] std::int64_t size() const { return order_.size(); }
  /// The requested number of rows in a full batch.
  [[nodiscard]] std::int64_t batch_size() const { return order_.batch_size(); }
  [[nodiscard]] std::int64_t batches_per_epoch() const { return order_.batches_per_epoch(); }
  [[nodiscard]] const DataSet<F...>& data() const { return data_; }

  /// The batches up to the end of the epoch.
  EpochIterator<DataBatches> begin() { return EpochIterator{*this}; }
  [[nodiscard]] std::default_sentinel_t end() const { return {}; }

 private:
  void make_room(Buffer& into) const {
    const auto rows = static_cast<std::size_t>(order_.most_rows());
    std::apply(
        [&](const auto&... field) {
          std::apply([&](auto&... buffer) { (buffer.resize(rows * field.array.row_size()), ...); }, into);
        },
        data_.fields());
  }

  template <class One, class T>
  Feed<typename One::name, typename One::View> load(std::vector<T>& buffer) const {
    const auto& array = std::get<One>(data_.fields()).array;
    auto shape = array.shape();
    shape[0] = order_.batch_rows();
    const std::size_t row_size = array.row_size();
    T* to = buffer.data();
    for (std::int64_t row = 0; row < shape[0]; ++row, to += row_size) {
      const std::int64_t later = row + detail::rows_ahead;
      if (later < shape[0]) detail::fetch_row(array.row(order_[later]), row_size);
      std::copy_n(array.row(order_[row]), row_size, to);
    }
    return {{buffer.data(), shape}};
  }

  DataSet<F...> data_;
  BatchOrder order_;
  Buffer buffer_;
};
template <class... F>
DataBatches(DataSet<F...>, std::int64_t) -> DataBatches<DataSet<F...>>;

/// What DataSet::shuffle returns: the data set and the seed, for batch().
template <class Data>
class ShuffledData {
 public:
  ShuffledData(Data data, std::uint64_t seed) : data_(std::move(data)), seed_(seed) {}
  [[nodiscard]] DataBatches<Data> batch(std::int64_t rows) const { return data_.batch(rows).shuffle(seed_); }

 private:
  Data data_;
  std::uint64_t seed_;
};

template <class... F>
DataBatches<DataSet<F...>> DataSet<F...>::batch(std::int64_t rows) const {
  return {*this, rows};
}
template <class... F>
ShuffledData<DataSet<F...>> DataSet<F...>::shuffle(std::uint64_t seed) const {
  return {*this, seed};
}

}  // namespace crochet
