// SPDX-License-Identifier: Apache-2.0
// A sum of rows along a balanced tree, whose order depends on the number of rows alone.
#pragma once

#include <cstddef>

namespace crochet::detail {

/// Adds `count` rows of `width` values along a balanced tree of neighbours: rows 0 and 1, 2 and 3, and so on, then the
/// sums in the same way. Adds levels up to the last but one; returns the distance of the last two rows, 0 for one row.
template <class T>
std::size_t tree_levels(T* rows, std::size_t count, std::size_t width) {
  std::size_t distance = 1;
  for (; 2 * distance < count; distance *= 2) {
    for (std::size_t k = 0; k + distance < count; k += 2 * distance) {
      T* const sum = rows + k * width;
      const T* const other = sum + distance * width;
      for (std::size_t i = 0; i < width; ++i) sum[i] += other[i];
    }
  }
  return count > 1 ? distance : 0;
}
/// `to` gets the sums of the rows divided by `total`; the rows are changed.
template <class T>
void tree_mean(T* rows, std::size_t count, std::size_t width, T total, T* to) {
  const std::size_t distance = tree_levels(rows, count, width);
  if (distance > 0) {
    const T* const other = rows + distance * width;
    for (std::size_t i = 0; i < width; ++i) to[i] = (rows[i] + other[i]) / total;
  } else {
    for (std::size_t i = 0; i < width; ++i) to[i] = rows[i] / total;
  }
}

}  // namespace crochet::detail
