// SPDX-License-Identifier: Apache-2.0
// StreamQueue: the bounded queue of a debug stream.
#pragma once

#include <crochet/proto/debug.pb.h>
#include <crochet/proto/event.pb.h>

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <crochet/debug/stream/streamed_run.hpp>

namespace crochet::debug {

/// A tensor, as its messages.
struct StreamedTensor {
  std::string key;  ///< `<node>:<slot>:<op>`
  std::vector<proto::Event> events;
};

struct StreamedRunEnd {};

using StreamItem =
    std::variant<StreamedRun, StreamedTensor, StreamedRunEnd, proto::CallTraceback, proto::DebuggedSourceFiles>;

/// A bounded queue from the training thread to the stream's thread. A popped item counts until `done`. Room is reserved
/// before an item is made, so that nothing is copied in vain.
class StreamQueue {
 public:
  StreamQueue(std::size_t items, std::size_t bytes) : max_items_(items), max_bytes_(bytes) {}

  /// Returns whether at least half is free. If not, no run should begin.
  [[nodiscard]] bool has_room_for_a_run() const {
    const std::lock_guard lock(mutex_);
    return !closed_ && items_.size() <= max_items_ / 2 && bytes_ <= max_bytes_ / 2;
  }
  /// Returns whether nothing is queued or being sent.
  [[nodiscard]] bool idle() const {
    const std::lock_guard lock(mutex_);
    return done_ == pushed_;
  }
  /// Reserves room for an item of `push`. Always fails for an item larger than the whole queue.
  [[nodiscard]] bool reserve(std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    if (closed_ || items_.size() >= max_items_ || bytes > max_bytes_ - std::min(bytes_, max_bytes_)) return false;
    bytes_ += bytes;
    max_seen_ = std::max(max_seen_, bytes_);
    return true;
  }
  /// Releases reserved room that is not used.
  void release(std::size_t bytes) {
    {
      const std::lock_guard lock(mutex_);
      bytes_ -= bytes;
    }
    changed_.notify_all();
  }
  /// Adds an item with reserved room, or a small one that must not be dropped. Returns its number, from 1.
  std::uint64_t push(StreamItem item, std::size_t reserved) {
    std::uint64_t number = 0;
    {
      const std::lock_guard lock(mutex_);
      items_.push_back({std::move(item), reserved});
      number = ++pushed_;
    }
    changed_.notify_all();
    return number;
  }

  struct Entry {
    StreamItem item;
    std::size_t bytes = 0;
  };
  /// Waits for the next item. False once the queue is closed and empty.
  [[nodiscard]] bool pop(Entry& entry) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return closed_ || !items_.empty(); });
    if (items_.empty()) return false;
    entry = std::move(items_.front());
    items_.pop_front();
    return true;
  }
  /// Marks the memory of the last popped item as released.
  void done(std::size_t bytes) {
    {
      const std::lock_guard lock(mutex_);
      bytes_ -= bytes;
      ++done_;
    }
    changed_.notify_all();
  }
  /// Waits until item `number` is done. False if the time limit passes first.
  template <class Duration>
  bool wait_done(std::uint64_t number, Duration time) const {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, time, [&] { return done_ >= number; });
  }
  /// Closes the queue: no more items are accepted; queued ones can still be popped.
  void close() {
    {
      const std::lock_guard lock(mutex_);
      closed_ = true;
    }
    changed_.notify_all();
  }

  /// The number of items pushed so far.
  [[nodiscard]] std::uint64_t pushed() const {
    const std::lock_guard lock(mutex_);
    return pushed_;
  }
  [[nodiscard]] std::size_t bytes() const {
    const std::lock_guard lock(mutex_);
    return bytes_;
  }
  [[nodiscard]] std::size_t max_bytes_seen() const {
    const std::lock_guard lock(mutex_);
    return max_seen_;
  }

 private:
  const std::size_t max_items_, max_bytes_;
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  std::deque<Entry> items_;
  std::size_t bytes_ = 0, max_seen_ = 0;
  std::uint64_t pushed_ = 0, done_ = 0;
  bool closed_ = false;
};

}  // namespace crochet::debug
