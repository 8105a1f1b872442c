// SPDX-License-Identifier: Apache-2.0
// The gradients of the whole batch from those of a rank. Small ones are exchanged together: an exchange of a few
// kilobytes costs the time of its messages, whatever their size.
#pragma once
#include <algorithm>
#include <vector>

#include <crochet/graph/ops/broadcast_to.hpp>
#include <crochet/graph/ops/concat.hpp>
#include <crochet/graph/ops/parts_of_ranks.hpp>
#include <crochet/graph/ops/reshape.hpp>
#include <crochet/graph/train/compute_gradients.hpp>
#include <crochet/graph/train/spread.hpp>

namespace crochet::detail {

constexpr Tensor gradient_of_whole_batch(Tensor x, Spread of_loss) {
  return gradient_over_ranks(x, of_loss == Spread::mean);
}

/// Gradients of up to `gradient` bytes share a bucket, which has up to `bucket` bytes. They are copied into it and out
/// of it; that of a larger one would cost more than a further exchange saves.
struct BucketBytes {
  std::int64_t gradient = 16'384;
  std::int64_t bucket = 1'048'576;
};

/// Gradients of one type, one behind the other.
class GradientBucket {
 public:
  static constexpr bool is_small(const VariableGradient& v) { return bytes_of(v) <= limits.gradient; }
  constexpr bool has_room_for(const VariableGradient& v) const {
    if (members_.empty()) return true;
    return bytes_ + bytes_of(v) <= limits.bucket && members_[0]->gradient.dtype() == v.gradient.dtype();
  }
  constexpr void add(VariableGradient& v) {
    members_.push_back(&v);
    bytes_ += bytes_of(v);
  }
  /// Replaces the gradients by those of the whole batch, and empties the bucket.
  constexpr void share(Spread of_loss) {
    if (members_.size() == 1) members_[0]->gradient = gradient_of_whole_batch(members_[0]->gradient, of_loss);
    if (members_.size() > 1) share_together(of_loss);
    members_.clear();
    bytes_ = 0;
  }

 private:
  static constexpr BucketBytes limits{};

  static constexpr std::int64_t count_of(const VariableGradient& v) { return v.variable.shape().size().factor; }
  static constexpr std::int64_t bytes_of(const VariableGradient& v) {
    return count_of(v) * static_cast<std::int64_t>(size_of(v.gradient.dtype()));
  }
  constexpr void share_together(Spread of_loss) {
    std::vector<Tensor> parts;
    for (const VariableGradient* v : members_) parts.push_back(reshape(v->gradient, {count_of(*v)}));
    const Tensor whole = gradient_of_whole_batch(concat(parts, 0), of_loss);
    std::int64_t at = 0;
    for (VariableGradient* v : members_) {
      v->gradient = reshape(slice(whole, 0, at, at + count_of(*v)), v->variable.shape());
      at += count_of(*v);
    }
  }

  std::vector<VariableGradient*> members_;
  std::int64_t bytes_ = 0;
};

/// If ranks divide the state of the optimizer, the gradient becomes this rank's part.
constexpr void share_large(VariableGradient& v, Spread of_loss) {
  if (v.variable.graph->optimizer_parts() == 0) {
    v.gradient = gradient_of_whole_batch(v.gradient, of_loss);
  } else {
    v.gradient = gradient_of_part(v.gradient, of_loss == Spread::mean);
  }
}

/// The order in which gradients are exchanged: that of the variables, and if exchanges overlap with the backward pass
/// that in which it computes them.
constexpr std::vector<VariableGradient*> order_of_exchanges(VariableGradients& gradients, bool overlaps) {
  std::vector<VariableGradient*> order;
  for (VariableGradient& v : gradients) order.push_back(&v);
  if (overlaps) {
    std::sort(order.begin(), order.end(), [](auto* a, auto* b) { return a->gradient.id < b->gradient.id; });
  }
  return order;
}

/// Replaces the gradients of a rank by those of the whole batch; nothing if the loss is the same on all ranks.
constexpr void share_gradients(VariableGradients& gradients, Spread of_loss) {
  if (gradients.empty() || of_loss == Spread::same || !gradients[0].gradient.graph->divides_batch()) return;
  GraphBuilder& g = *gradients[0].gradient.graph;
  const int position = g.position();
  GradientBucket bucket;
  for (VariableGradient& v : gradients) v.gradient = broadcast_to(v.gradient, v.variable.shape());
  for (VariableGradient* v : order_of_exchanges(gradients, g.overlaps_exchanges())) {
    if (!GradientBucket::is_small(*v)) {
      share_large(*v, of_loss);
      continue;
    }
    if (!bucket.has_room_for(*v)) bucket.share(of_loss);
    bucket.add(*v);
  }
  bucket.share(of_loss);
  g.set_position(position);
}

}  // namespace crochet::detail
