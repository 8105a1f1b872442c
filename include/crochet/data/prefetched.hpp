// SPDX-License-Identifier: Apache-2.0
// Prefetched: batches made by a thread of their own, ahead of the loop that uses them.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <iterator>
#include <memory>
#include <mutex>
#include <stop_token>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <crochet/base/config.hpp>
#include <crochet/base/error.hpp>
#include <crochet/base/name.hpp>
#include <crochet/base/prefetch_slots.hpp>
#include <crochet/data/batch_feeds.hpp>
#include <crochet/data/batches.hpp>
#include <crochet/data/data_batches.hpp>
#include <crochet/data/data_position.hpp>
#include <crochet/data/epoch_iterator.hpp>
#include <crochet/data/mapped_batches.hpp>

namespace crochet {

/// The batches of `Source` (DataBatches, MappedBatches, Batches, BatchFeeds) in the same order:
/// `data.batch(32).shuffle(1).repeat().prefetch(2)`.
/// - position(), seek() and done() are those of the batches that next() has returned, so CheckpointInputPipeline saves
///   and restores them exactly. seek() discards what was made ahead.
/// - What the source throws is thrown by next(), behind the batches before it, at every call until seek().
/// - The thread makes batches until `depth` are ready and one is in use. From a depth of 3 on it goes on when half of
///   them were used; with less, at each batch.
/// - The thread starts with the first next() and ends with this object. A process without it after fork() waits without
///   an end: fork first.
/// - Memory: depth + 1 batches. next() allocates nothing once each of them was used. Thread: one at a time.
template <class Source>
class Prefetched {
 public:
  using Batch = typename Source::Batch;

  /// `depth`: the number of batches that may be ready, 1 to 2^20. Throws LogicError for another one.
  Prefetched(Source source, std::size_t depth) : state_(std::make_unique<State>(std::move(source), depth)) {}

  /// The next batch; its views are valid until the next call. Waits until it is ready. Throws
  /// OutOfRangeError after the last one; ResourceExhaustedError if the system cannot start the thread.
  Batch next() {
    State& state = *state_;
    if (!state.thread.joinable()) state.start();
    std::unique_lock lock{state.mutex};
    state.release();
    state.changed.wait(lock, [&] { return state.ready > 0 || state.error; });
    if (state.ready == 0) std::rethrow_exception(state.error);
    const Item& item = state.items[state.first];
    state.taken = true;
    state.position = item.after;
    return item.batch;
  }
  /// next().
  Batch operator()() { return next(); }

  /// As a range: the batches up to the end of the epoch.
  EpochIterator<Prefetched> begin() { return EpochIterator{*this}; }
  [[nodiscard]] std::default_sentinel_t end() const { return {}; }

  /// True when next() would throw OutOfRangeError.
  [[nodiscard]] bool done() const { return position().epoch >= state_->epochs; }
  /// The position of the batch that next() returns.
  [[nodiscard]] DataPosition position() const { return state_->position; }
  /// Sets the position, as if all batches before it had been taken. Throws LogicError for one outside the data, without
  /// a change.
  void seek(DataPosition to) {
    State& state = *state_;
    std::unique_lock lock{state.mutex};
    state.changed.wait(lock, [&] { return !state.filling; });
    state.source.seek(to);
    state.discard();
    state.position = to;
    state.changed.notify_all();
  }
  /// Back to the first batch of the first epoch.
  void restart() { seek({}); }

  /// Number of complete epochs, which is the index of the current one.
  [[nodiscard]] std::int64_t epoch() const { return position().epoch; }
  /// The same as of the source.
  [[nodiscard]] std::int64_t epochs() const { return state_->epochs; }
  [[nodiscard]] std::int64_t size() const { return state_->source.size(); }
  [[nodiscard]] std::int64_t batch_size() const { return state_->source.batch_size(); }
  [[nodiscard]] std::int64_t batches_per_epoch() const { return state_->source.batches_per_epoch(); }

 private:
  struct Item {
    typename Source::Buffer buffer{};
    Batch batch{};
    DataPosition after{};
  };

  /// Shared with the thread. The thread alone uses `source` and items[next_item] while `filling`.
  struct State {
    State(Source from, std::size_t depth)
        : source(std::move(from)),
          epochs(source.epochs()),
          position(source.position()),
          items(detail::prefetch_slots(depth, "crochet: data with a prefetch")) {}

    void start() {
      try {
        thread = std::jthread([this](const std::stop_token& stop) { fill_ahead(stop); });
      } catch (const std::system_error&) {
        throw ResourceExhaustedError("the system cannot start a thread for prefetch(); use the batches without it");
      }
    }
    void release() {
      if (!taken) return;
      taken = false;
      first = (first + 1) % items.size();
      --ready;
      if (few_left()) changed.notify_all();
    }
    void discard() {
      ready = taken ? 1 : 0;  // the batch in use stays valid: a session may repeat its run
      error = nullptr;
    }
    /// Whether few batches are left, so that the thread goes on. Two of them are the one that the loop takes next and
    /// one ahead of it.
    [[nodiscard]] bool few_left() const {
      return ready <= std::max<std::size_t>(items.size() / 2, items.size() > 2 ? 2 : 1);
    }
    /// Waits until there is room for another batch. Once all are ready, it waits until half of them were used: to wake
    /// a thread costs the loop some microseconds, which for a small batch is more than the batch itself.
    bool wait_for_room(const std::stop_token& stop) {
      std::unique_lock lock{mutex};
      if (ready == items.size()) changed.wait(lock, stop, [&] { return few_left(); });
      filling = changed.wait(lock, stop, [&] { return ready < items.size() && !error; }) && !stop.stop_requested();
      next_item = (first + ready) % items.size();
      return filling;
    }
    void fill_ahead(const std::stop_token& stop) {
      while (wait_for_room(stop)) {
        std::exception_ptr thrown;
        try {
          Item& item = items[next_item];
          item.batch = source.next(item.buffer);
          item.after = source.position();
        } catch (...) {
          thrown = std::current_exception();
        }
        const std::scoped_lock lock{mutex};
        filling = false;
        error = thrown;
        if (!thrown) ++ready;
        changed.notify_all();
      }
    }

    Source source;
    std::int64_t epochs;
    DataPosition position;    // of the next batch for the loop
    std::vector<Item> items;  // [first] is the next to take, or taken; `ready` of them are filled
    std::size_t first = 0, ready = 0, next_item = 0;
    bool taken = false, filling = false;
    std::exception_ptr error;
    std::mutex mutex;
    std::condition_variable_any changed;
    std::jthread thread;  // the last member: it ends before the others
  };

  std::unique_ptr<State> state_;
};

inline Prefetched<Batches> Batches::prefetch(std::size_t depth) && { return {std::move(*this), depth}; }
template <FixedString Images, FixedString Labels>
Prefetched<BatchFeeds<Images, Labels>> BatchFeeds<Images, Labels>::prefetch(std::size_t depth) && {
  return {std::move(*this), depth};
}
template <class... F>
Prefetched<DataBatches<DataSet<F...>>> DataBatches<DataSet<F...>>::prefetch(std::size_t depth) && {
  return {std::move(*this), depth};
}
template <class Source, class Function>
Prefetched<MappedBatches<Source, Function>> MappedBatches<Source, Function>::prefetch(std::size_t depth) && {
  return {std::move(*this), depth};
}

}  // namespace crochet
