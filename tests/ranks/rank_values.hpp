// SPDX-License-Identifier: Apache-2.0
// Values for sums over ranks.
#pragma once
#include <cstddef>
#include <vector>

namespace rank_values {

/// Values that differ by rank, and whose sum depends on the order.
template <class T>
std::vector<T> values_of(int rank, std::size_t n) {
  std::vector<T> values(n);
  for (std::size_t i = 0; i < n; ++i) {
    values[i] = T(1) / static_cast<T>(1 + (i * 7919 + static_cast<std::size_t>(rank) * 104'729) % 10'007);
  }
  return values;
}

}  // namespace rank_values
