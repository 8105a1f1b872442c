// SPDX-License-Identifier: Apache-2.0
// Which ways to compute a product its shapes can ask for: what the compiler knows cannot happen is not compiled.
#pragma once
#include <crochet/graph/plan.hpp>
#include <crochet/kernels/panels.hpp>

namespace crochet::kernel {

/// Of products [m, depth] x [depth, n] that share their code: what there is among them. By default, everything.
struct ProductPaths {
  bool a_straight = true, a_turned = true;  ///< a as it lies in memory, or its transpose
  bool b_straight = true, b_turned = true;
  bool depth_of_one = true;
  bool whole_panels = true;  ///< as many columns as a panel has
  bool part_panels = true;   ///< columns that fill no panel

  static constexpr ProductPaths none() { return {false, false, false, false, false, false, false}; }

  /// One more product. T: the element type of its result.
  template <class T>
  constexpr void add(bool a_is_turned, bool b_is_turned, const Extent& depth, const Extent& columns) {
    (a_is_turned ? a_turned : a_straight) = true;
    (b_is_turned ? b_turned : b_straight) = true;
    depth_of_one = depth_of_one || depth.factor == 1;
    whole_panels = whole_panels || !columns.is_static() || columns.factor >= panel_width<T>;
    part_panels = part_panels || !columns.is_static() || columns.factor % panel_width<T> != 0;
  }
};

}  // namespace crochet::kernel
