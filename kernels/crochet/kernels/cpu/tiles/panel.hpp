// SPDX-License-Identifier: Apache-2.0
// The panel that a register tile reads: columns [j, j + n) of the right operand, in place if their layout permits, else
// copied to scratch memory and transposed if necessary.
#pragma once
#include <crochet/base/instruction_set.hpp>
#include <crochet/kernels/cpu/matrix.hpp>
#include <crochet/kernels/cpu/tiles/transpose.hpp>
#include <crochet/kernels/cpu/tiles/widen.hpp>
#include <crochet/kernels/rows.hpp>

namespace crochet::kernel::CROCHET_ISA {

/// Rows of at least as many readable columns as a panel has, `pitch` apart.
template <class T>
struct Panel {
  const T* data;
  std::int64_t pitch;
};

namespace detail {
/// Copies the panel's rows contiguously, padded with zeros to its width. B: T or, for float, bfloat16.
template <class T, class B>
void copy_panel(Matrix<B> b, std::int64_t depth, std::int64_t j, std::int64_t n, T* panel) {
  for (std::int64_t k = 0; k < depth; ++k, panel += panel_width<T>) {
    const B* from = b.at(k, j);
    if constexpr (!std::is_same_v<T, B>) {
      copy_as(from, n, panel);
      for (std::int64_t c = n; c < panel_width<T>; ++c) panel[c] = T{};
    } else {
      CROCHET_UNROLL
      for (int u = 0; u < panel_vectors<T>; ++u) {
        const std::int64_t left = n - u * simd::lanes;
        const simd::First some{left < 0 ? 0 : left < simd::lanes ? left : simd::lanes};
        simd::store(panel + u * simd::lanes, simd::load(left < 0 ? from : from + u * simd::lanes, some, T{}));
      }
    }
  }
}

/// Transposes the block of native_lanes by native_lanes elements whose first one is (k, j) of a transposed matrix.
template <class T, class B>
CROCHET_ALWAYS_INLINE void transpose_block_as(Matrix<B> b, std::int64_t k, std::int64_t j, T* to, std::int64_t pitch) {
  constexpr std::int64_t block = native_lanes<T>;
  if constexpr (std::is_same_v<T, B>) {
    transpose_block(b.at(k, j), b.column, to, pitch);
  } else {
    T rows[block * block];
    for (std::int64_t c = 0; c < block; ++c) copy_as(b.at(k, j + c), block, rows + c * block);
    transpose_block(rows, block, to, pitch);
  }
}

/// As copy_panel, for a transposed matrix: element (k, c) of the panel is stored in row j + c, column k.
template <class T, class B>
[[gnu::noinline]] void transpose_panel(Matrix<B> b, std::int64_t depth, std::int64_t j, std::int64_t n, T* panel) {
  constexpr std::int64_t width = panel_width<T>, block = native_lanes<T>;
  const std::int64_t blocks = depth / block * block;
  for (std::int64_t k = 0; k < blocks; k += block) {
    std::int64_t c = 0;
    for (; c + block <= n; c += block) transpose_block_as(b, k, j + c, panel + k * width + c, width);
    for (; c < width; ++c) {
      const B* from = b.at(k, j + c);
      CROCHET_SHORT_LOOP
      for (std::int64_t i = 0; i < block; ++i) panel[(k + i) * width + c] = c < n ? T{from[i]} : T{};
    }
  }
  if (blocks == depth) return;
  for (std::int64_t c = 0; c < width; ++c) {
    const B* from = b.at(blocks, j + c);  // the rest of a stored row is contiguous and less than a block
    CROCHET_SHORT_LOOP
    for (std::int64_t k = blocks; k < depth; ++k) panel[k * width + c] = c < n ? T{from[k - blocks]} : T{};
  }
}
}  // namespace detail

/// The minimum number of rows for which copying a panel pays for itself by the better access pattern.
inline constexpr std::int64_t rows_worth_a_copy = 64;

/// The size of the scratch memory of panel_of, in elements.
template <class T>
constexpr std::int64_t panel_scratch(std::int64_t depth) {
  return depth * panel_width<T>;
}

/// `rows`: how often the panel will be read. B: T or, for float, bfloat16.
template <class T, class B>
Panel<T> panel_of(Matrix<B> b, std::int64_t depth, std::int64_t j, std::int64_t n, std::int64_t rows, T* scratch) {
  if (b.transposed()) {
    detail::transpose_panel(b, depth, j, n, scratch);
    return {scratch, panel_width<T>};
  }
  if constexpr (std::is_same_v<T, B>) {
    const bool padded = b.panel != 0;
    const bool whole = n == panel_width<T>;
    if (padded || (whole && (rows < rows_worth_a_copy || b.row == panel_width<T>))) return {b.at(0, j), b.row};
  }
  detail::copy_panel(b, depth, j, n, scratch);
  return {scratch, panel_width<T>};
}

}  // namespace crochet::kernel::CROCHET_ISA
