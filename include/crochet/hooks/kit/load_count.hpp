// SPDX-License-Identifier: Apache-2.0
// load_count: a number that a hook counts up, from a checkpoint.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>

namespace crochet::detail {

/// As `in.get(key, count)`. A number that no training reaches becomes the nearest one, from 0 to 2^62, so that counting
/// on does not overflow.
bool load_count(auto& in, std::string_view key, std::int64_t& count) {
  if (!in.get(key, count)) return false;
  count = std::clamp<std::int64_t>(count, 0, std::int64_t{1} << 62);
  return true;
}

}  // namespace crochet::detail
