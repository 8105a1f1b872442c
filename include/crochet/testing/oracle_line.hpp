// SPDX-License-Identifier: Apache-2.0
// The lines of an array along an axis, for the oracle's rules.
#pragma once

#include <cstddef>

#include <crochet/testing/oracle_array.hpp>

namespace crochet::testing::detail {

/// A line of elements, `step` apart.
struct Line {
  std::size_t from, step, n;
  std::size_t operator[](std::size_t i) const { return from + i * step; }
};
/// Calls visit(number of the line, line) for every line along an axis.
template <class Visit>
void each_line(const Array& x, std::size_t axis, Visit visit) {
  std::size_t inner = 1, outer = 1;
  for (std::size_t i = axis + 1; i < x.rank(); ++i) inner *= static_cast<std::size_t>(x.shape[i]);
  for (std::size_t i = 0; i < axis; ++i) outer *= static_cast<std::size_t>(x.shape[i]);
  const auto n = static_cast<std::size_t>(x.shape[axis]);
  for (std::size_t line = 0; line < outer * inner; ++line) {
    visit(line, Line{line / inner * n * inner + line % inner, inner, n});
  }
}

}  // namespace crochet::testing::detail
