// SPDX-License-Identifier: Apache-2.0
// Positions: what the windows of a row of positions read in one dimension.
#pragma once
#include <crochet/base/instruction_set.hpp>
#include <crochet/kernels/cpu/conv/slide.hpp>

namespace crochet::kernel::CROCHET_ISA {

/// The positions phase, phase + spread, ... of a dimension. Tap k of the position with number q reads source element
/// first(k) + q * step.
struct Positions {
  Axis axis;
  std::int64_t phase = 0;
  bool bordered = false;  ///< the source has a border of zeros, so that each tap reads an element

  std::int64_t count() const { return (axis.places - phase + axis.spread - 1) / axis.spread; }
  std::int64_t step() const { return axis.spread == 1 ? axis.stride : 1; }
  /// Whether tap k reads the source at these positions.
  bool has(std::int64_t k) const { return axis.spread_index(phase, k) % axis.spread == 0; }
  std::int64_t first(std::int64_t k) const { return axis.spread_index(phase, k) / axis.spread; }
  bool inside(std::int64_t k, std::int64_t q) const {
    const std::int64_t x = first(k) + q * step();
    return bordered || (x >= 0 && x < axis.source);
  }
  /// The numbers of the positions for which taps [from, to) are inside the source.
  Range whole(std::int64_t from, std::int64_t to) const {
    Range r{0, count()};
    for (std::int64_t k = from; k < to; ++k) {
      if (!has(k)) continue;
      while (r.from < r.to && !inside(k, r.from)) ++r.from;
      while (r.from < r.to && !inside(k, r.to - 1)) --r.to;
    }
    return r;
  }
};

}  // namespace crochet::kernel::CROCHET_ISA
