// SPDX-License-Identifier: Apache-2.0
// Lanes: assigns slices to rows of a picture without overlap in a row.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace crochet::trace {

/// Each slice goes into the first lane that ended before it starts. The first lane ends at 0. Cost: log(lanes) per
/// slice, by a tree in which every node has the earliest end below it.
class Lanes {
 public:
  /// Returns the lane of a slice, and sets the lane's end to the slice's.
  std::uint32_t assign(std::int64_t start, std::int64_t end);

 private:
  // A lane that is not open yet is free for every slice; such lanes follow the open ones and are used in order.
  static constexpr std::int64_t not_open = std::numeric_limits<std::int64_t>::min();

  void set(std::size_t at, std::int64_t end);
  void grow();

  std::size_t leaves_ = 2;
  std::vector<std::int64_t> tree_{0, not_open, 0, not_open};  // the root is 1, the children of n are 2n and 2n + 1
};

}  // namespace crochet::trace

#ifdef CROCHET_HEADER_ONLY
#include <crochet/trace/lanes.ipp>
#endif
