// SPDX-License-Identifier: Apache-2.0
// prefetch_slots: the size of a queue that a thread fills ahead of its user.
#pragma once

#include <cstddef>
#include <string>

#include <crochet/base/config.hpp>
#include <crochet/base/error.hpp>

namespace crochet::detail {

/// One slot for each of `depth` ready items and one for the item in use. Throws LogicError unless the depth is 1 to
/// 2^20. A negative number, which is a huge std::size_t, would wrap around to no slots.
CROCHET_COLD inline std::size_t prefetch_slots(std::size_t depth, const std::string& what) {
  constexpr std::size_t most = std::size_t{1} << 20;
  if (depth < 1 || depth > most)
    throw LogicError(what + " of " + std::to_string(depth) + "; set a depth from 1 to " + std::to_string(most));
  return depth + 1;
}

}  // namespace crochet::detail
