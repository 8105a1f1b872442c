// SPDX-License-Identifier: Apache-2.0
// The training images in batches, prefetched by a thread, with a position for checkpoints.
#pragma once
#include <crochet/data.hpp>
#include <crochet/session/prefetch.hpp>

namespace demo {

namespace cr = crochet;

/// A batch as feeds of the models' placeholders.
inline auto as_feeds(const cr::Batch& b) {
  return cr::feeds(cr::feed<"images">(b.images), cr::feed<"labels">(b.labels));
}

/// Endless shuffled batches. The position is that after the last used batch, independent of the prefetch.
class Input {
 public:
  explicit Input(cr::Batches data) : data_(std::move(data)), used_(data_.position()) {}

  auto next() {
    const cr::BufferedBatch& item = ahead_.next();
    used_ = item.after;
    return as_feeds(item.batch);
  }
  [[nodiscard]] std::int64_t batches_per_epoch() const { return data_.batches_per_epoch(); }
  /// The hook that starts the thread with the session.
  [[nodiscard]] auto hook() { return ahead_.hook(); }

  // The interface of cr::CheckpointInputPipeline.
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
