// SPDX-License-Identifier: Apache-2.0
// Panels: how a matrix lies in memory that is the right operand of products. Its columns are cut into panels as wide as
// a register tile; in a panel row follows row, so that a product reads it from front to end. Columns that fill up the
// last panel are zeros.
#pragma once
#include <crochet/base/config.hpp>
#include <crochet/kernels/simd.hpp>
#include <cstring>

namespace crochet::kernel {

/// Vectors and columns of a panel.
template <class T>
inline constexpr int panel_vectors = sizeof(T) == 4 ? 2 : 1;
template <class T>
inline constexpr std::int64_t panel_width = panel_vectors<T>* simd::lanes;

/// The distance of a panel's rows: a matrix of few columns has one narrow panel.
template <class T>
constexpr std::int64_t panel_pitch(std::int64_t columns) {
  return columns <= simd::lanes ? simd::lanes : panel_width<T>;
}
/// Elements that [rows, columns] take in panels.
template <class T>
constexpr std::int64_t panel_elements(std::int64_t rows, std::int64_t columns) {
  const std::int64_t pitch = panel_pitch<T>(columns);
  return (columns + pitch - 1) / pitch * pitch * rows;
}
/// Where element (i, j) of a matrix of `rows` rows is.
template <class T>
constexpr std::int64_t panel_offset(std::int64_t rows, std::int64_t columns, std::int64_t i, std::int64_t j) {
  const std::int64_t pitch = panel_pitch<T>(columns);
  return (j / pitch * rows + i) * pitch + j % pitch;
}

/// From row-major order to panels.
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
/// And back.
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

}  // namespace crochet::kernel
