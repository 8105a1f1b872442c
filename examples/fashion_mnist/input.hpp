// SPDX-License-Identifier: Apache-2.0
// The training images, batch by batch: made ahead by a thread, in a place that a checkpoint can keep.
#pragma once
#include <crochet/data.hpp>
#include <crochet/session/prefetch.hpp>

namespace demo {

namespace cr = crochet;

/// A batch as feeds of the models' placeholders.
inline auto as_feeds(const cr::Batch& b) {
  return cr::feeds(cr::feed<"images">(b.images), cr::feed<"labels">(b.labels));
}

/// Shuffled batches without end. Its position is behind the batch that was used last, wherever the thread is already.
class Input {
 public:
  explicit Input(cr::Batches data) : data_(std::move(data)), used_(data_.position()) {}

  auto next() {
    const cr::BufferedBatch& item = ahead_.next();
    used_ = item.after;
    return as_feeds(item.batch);
  }
  [[nodiscard]] std::int64_t batches_per_epoch() const { return data_.batches_per_epoch(); }
  /// Starts the thread with the session.
  [[nodiscard]] auto hook() { return ahead_.hook(); }

  // What cr::CheckpointInputPipeline asks for.
  [[nodiscard]] cr::DataPosition position() const { return used_; }
  void seek(const cr::DataPosition& position) {
    ahead_.restart([&] { data_.seek(position); });
    used_ = position;
  }

 private:
  cr::Batches data_;
  cr::DataPosition used_;
  cr::Prefetch<cr::BufferedBatch> ahead_{[this](cr::BufferedBatch& item) { item.take_from(data_); }};
};

}  // namespace demo
