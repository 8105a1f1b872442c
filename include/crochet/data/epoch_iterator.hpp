// SPDX-License-Identifier: Apache-2.0
// EpochIterator: batches as a range, up to the end of an epoch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>

namespace crochet {

/// Takes the batches of `Source` up to the end of the current epoch: its next(), done() and epoch(). A batch is valid
/// until the next one.
template <class Source>
class EpochIterator {
 public:
  using value_type = typename Source::Batch;
  using difference_type = std::ptrdiff_t;

  explicit EpochIterator(Source& from) : from_(&from), epoch_(from.epoch()) { ++*this; }
  const value_type& operator*() const { return batch_; }
  EpochIterator& operator++() {
    more_ = !from_->done() && from_->epoch() == epoch_;
    if (more_) batch_ = from_->next();
    return *this;
  }
  void operator++(int) { ++*this; }
  friend bool operator==(const EpochIterator& a, std::default_sentinel_t) { return !a.more_; }

 private:
  Source* from_;
  std::int64_t epoch_;
  value_type batch_{};
  bool more_ = true;
};

}  // namespace crochet
