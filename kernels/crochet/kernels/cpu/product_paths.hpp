// SPDX-License-Identifier: Apache-2.0
// The code paths that a product's shapes can need. Paths that are impossible at compile time are not compiled.
#pragma once
#include <crochet/base/instruction_set.hpp>
#include <crochet/graph/passes/plan.hpp>
#include <crochet/kernels/panels.hpp>

namespace crochet::kernel::CROCHET_ISA {

/// The code paths needed by a set of products [m, depth] x [depth, n] that share their code. Default: all.
struct ProductPaths {
  bool a_straight = true, a_turned = true;  ///< a as stored, or its transpose
  bool b_straight = true, b_turned = true;
  bool depth_of_one = true;
  bool whole_panels = true;  ///< full panels of columns
  bool part_panels = true;   ///< a partial panel of columns

  static constexpr ProductPaths none() { return {false, false, false, false, false, false, false}; }

  /// Adds the paths of one more step, given its attributes, operands and result. For op::matmul and the batched
  /// product.
  template <class Types>
  static constexpr void add(ProductPaths& all, const Attributes& attributes, const Shape* in, const Shape& out) {
    constexpr std::int64_t width = panel_width<typename Types::out>;
    const bool ta = attributes.ints[0] != 0, tb = attributes.ints[1] != 0;
    const Extent depth = in[0].from_right(ta ? 1 : 0), columns = out.from_right(0);
    (ta ? all.a_turned : all.a_straight) = true;
    (tb ? all.b_turned : all.b_straight) = true;
    all.depth_of_one = all.depth_of_one || depth.factor == 1;
    all.whole_panels = all.whole_panels || !columns.is_static() || columns.factor >= width;
    all.part_panels = all.part_panels || !columns.is_static() || columns.factor % width != 0;
  }
};

}  // namespace crochet::kernel::CROCHET_ISA
