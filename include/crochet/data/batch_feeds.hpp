// SPDX-License-Identifier: Apache-2.0
// BatchFeeds: batches of images with labels as the feeds of a run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include <crochet/base/config.hpp>
#include <crochet/base/name.hpp>
#include <crochet/base/tensor_view.hpp>
#include <crochet/data/batches.hpp>
#include <crochet/data/derived_batches.hpp>
#include <crochet/hook/run_args.hpp>

namespace crochet {

/// The batches of a Batches, each as feeds of two placeholders: `data.batch(128).feeds<"images", "labels">()`. With it
/// images are data of train(), fit(), Evaluate and every other hook that takes batches.
/// - Images, Labels: the names of the placeholders; float [n, pixels], 0 to 1, and int32 [n].
/// - Position, order, epochs and costs are those of the source. Thread: one at a time.
template <FixedString Images, FixedString Labels>
class BatchFeeds : public detail::DerivedBatches<BatchFeeds<Images, Labels>, Batches> {
  using Base = detail::DerivedBatches<BatchFeeds, Batches>;

 public:
  using Batch = Feeds<Feed<Name<Images>, TensorView<float, 2>>, Feed<Name<Labels>, TensorView<std::int32_t, 1>>>;
  using Buffer = BatchBuffer;

  explicit BatchFeeds(Batches source) : Base(std::move(source)) {}
  /// The same feeds of other batches.
  [[nodiscard]] BatchFeeds with(Batches source) const { return BatchFeeds{std::move(source)}; }

  /// Defined in prefetched.hpp.
  [[nodiscard]] Prefetched<BatchFeeds> prefetch(std::size_t depth) &&;

  /// The next batch; its views are valid until the next call. Throws OutOfRangeError after the last one.
  Batch next() { return feeds_of(this->source_.next()); }
  /// next() into the caller's memory, which the views then refer to.
  Batch next(Buffer& into) { return feeds_of(this->source_.next(into)); }

 private:
  static Batch feeds_of(const crochet::Batch& batch) {
    return crochet::feeds(feed<Images>(batch.images), feed<Labels>(batch.labels));
  }
};

template <FixedString Images, FixedString Labels>
BatchFeeds<Images, Labels> Batches::feeds() && {
  return BatchFeeds<Images, Labels>{std::move(*this)};
}

}  // namespace crochet
