// SPDX-License-Identifier: Apache-2.0
// The reductions that a loop can perform, and the cuts into rows and columns that they need.
#pragma once
#include <crochet/graph/passes/broadcasts.hpp>

namespace crochet {

/// The shape of a reduction of `in` with the reduced axes kept as dimensions of size 1, aligned with its input.
constexpr Shape beside_input(const Node& reduction, Shape in) {
  for (std::size_t i = 0; i < in.rank; ++i) {
    if (((static_cast<unsigned>(reduction.attributes.ints[0]) >> i) & 1U) != 0) in[i] = 1;
  }
  return in;
}

/// The cuts at which a loop over `in` reduces everything, each row or each column. 0 if there are none, or if the
/// reduction's own kernel is better: long rows of partial results per thread, and results of short rows, cost more than
/// reading the input a second time.
constexpr SplitPoints reduction_cuts(const Node& reduction, const Shape& in) {
  constexpr std::int64_t long_row = 8192, short_row = 32;
  const Shape out = beside_input(reduction, in);
  if (out == in || in.size().is_one()) return 0;
  SplitPoints cuts = cuts_for(out, in);
  for (std::size_t k = 0; k <= in.rank; ++k) {
    const Extent columns = in.product(k, in.rank);
    const bool too_long = !columns.is_static() || columns.factor > long_row;
    const bool too_short = columns.is_static() && columns.factor < short_row;
    if (((cuts >> k) & 1U) == 0) continue;
    const BroadcastMode mode = broadcast_mode(out, in, k);
    if ((mode == BroadcastMode::row && too_long) || (mode == BroadcastMode::column && too_short)) cuts &= ~(1U << k);
  }
  return cuts;
}

}  // namespace crochet
