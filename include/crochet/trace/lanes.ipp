// SPDX-License-Identifier: Apache-2.0
// The compiled half of lanes.hpp.
#pragma once

#include <crochet/trace/lanes.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace crochet::trace {

CROCHET_INLINE std::uint32_t Lanes::assign(std::int64_t start, std::int64_t end) {
  start = std::max(start, not_open + 1);
  if (tree_[1] >= start) grow();  // no lane is free
  std::size_t at = 1;
  while (at < leaves_) at = tree_[2 * at] < start ? 2 * at : 2 * at + 1;
  set(at, end);
  return static_cast<std::uint32_t>(at - leaves_);
}

CROCHET_INLINE void Lanes::set(std::size_t at, std::int64_t end) {
  tree_[at] = end;
  for (at /= 2; at > 0; at /= 2) tree_[at] = std::min(tree_[2 * at], tree_[2 * at + 1]);
}

CROCHET_INLINE void Lanes::grow() {
  const std::vector<std::int64_t> ends(tree_.begin() + static_cast<std::ptrdiff_t>(leaves_), tree_.end());
  leaves_ *= 2;
  tree_.assign(2 * leaves_, not_open);
  for (std::size_t i = 0; i < ends.size(); ++i) set(leaves_ + i, ends[i]);
}

}  // namespace crochet::trace
