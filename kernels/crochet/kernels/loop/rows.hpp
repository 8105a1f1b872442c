// SPDX-License-Identifier: Apache-2.0
// Elementwise loops with operands in panels: they run row by row, which works for all layouts.
#pragma once
#include <crochet/base/instruction_set.hpp>
#include <crochet/kernels/program.hpp>

namespace crochet::kernel::CROCHET_ISA::detail {

/// Rows [i0, i1), all columns. Not inlined, so that equal programs share the code.
template <class P, class R>
[[gnu::noinline]] void loop_over_rows(P program, const R& refs, std::int64_t i0, std::int64_t i1,
                                      std::int64_t columns) {
  constexpr int lanes = program_lanes<P>, vectors = kernel::together<4>(static_cast<const R*>(nullptr));
  constexpr int many = vectors * simd::lanes / lanes;
  constexpr const char* no_root = nullptr;
  for (std::int64_t i = i0; i < i1; ++i) {
    std::int64_t j = 0;
    for (; j + many * lanes <= columns; j += many * lanes) evaluate<lanes, many>(program, refs, i, j, no_root);
    for (; j + lanes <= columns; j += lanes) evaluate<lanes, 1>(program, refs, i, j, no_root);
    for (; j < columns; ++j) evaluate<1, 1>(program, refs, i, j, no_root);
  }
}

}  // namespace crochet::kernel::CROCHET_ISA::detail
