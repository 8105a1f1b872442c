// SPDX-License-Identifier: Apache-2.0
// Panels: the memory layout of a matrix that is the right operand of products. The columns are split into panels as
// wide as a register tile. Within a panel the rows are contiguous, so a product reads it sequentially. The last panel
// is padded with zeros.
#pragma once
#include <crochet/base/config.hpp>
#include <crochet/base/instruction_set.hpp>
#include <crochet/kernels/simd.hpp>
#include <cstring>

namespace crochet::kernel::CROCHET_ISA {

/// Vectors per row of a panel.
template <class T>
inline constexpr int panel_vectors = sizeof(T) <= 4 ? 2 : 1;
template <class T>
inline constexpr std::int64_t panel_width = panel_vectors<T>* simd::lanes;

/// The distance of rows in a panel, in elements. A matrix with few columns has one narrow panel.
template <class T>
constexpr std::int64_t panel_pitch(std::int64_t columns) {
  return columns <= simd::lanes ? simd::lanes : panel_width<T>;
}
/// The size of a [rows, columns] matrix in panels, in elements.
template <class T>
constexpr std::int64_t panel_elements(std::int64_t rows, std::int64_t columns) {
  const std::int64_t pitch = panel_pitch<T>(columns);
  return (columns + pitch - 1) / pitch * pitch * rows;
}
/// The offset of element (i, j) of a matrix with `rows` rows.
template <class T>
constexpr std::int64_t panel_offset(std::int64_t rows, std::int64_t columns, std::int64_t i, std::int64_t j) {
  const std::int64_t pitch = panel_pitch<T>(columns);
  return (j / pitch * rows + i) * pitch + j % pitch;
}

/// Converts row-major order to panels.
template <class T>
void pack(const T* from, std::int64_t rows, std::int64_t columns, T* to) {
  const std::int64_t pitch = panel_pitch<T>(columns);
  for (std::int64_t j0 = 0; j0 < columns; j0 += pitch) {
    const std::int64_t some = columns - j0 < pitch ? columns - j0 : pitch;
    for (std::int64_t i = 0; i < rows; ++i, to += pitch) {
      std::memcpy(to, from + i * columns + j0, static_cast<std::size_t>(some) * sizeof(T));
      CROCHET_SHORT_LOOP
      for (std::int64_t c = some; c < pitch; ++c) to[c] = T{};
    }
  }
}
/// Converts panels to row-major order.
template <class T>
void unpack(const T* from, std::int64_t rows, std::int64_t columns, T* to) {
  const std::int64_t pitch = panel_pitch<T>(columns);
  for (std::int64_t j0 = 0; j0 < columns; j0 += pitch) {
    const std::int64_t some = columns - j0 < pitch ? columns - j0 : pitch;
    for (std::int64_t i = 0; i < rows; ++i, from += pitch) {
      std::memcpy(to + i * columns + j0, from, static_cast<std::size_t>(some) * sizeof(T));
    }
  }
}

}  // namespace crochet::kernel::CROCHET_ISA
