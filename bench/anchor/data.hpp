// SPDX-License-Identifier: Apache-2.0
// The random numbers of a race, drawn as in the C++ competitors, so that equal networks start with equal losses.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <vector>

namespace bench {

inline std::vector<float> noise(std::size_t n, double scale, unsigned seed = 1) {
  std::mt19937 random(seed);
  std::normal_distribution<float> number(0, static_cast<float>(scale));
  std::vector<float> v(n);
  for (float& x : v) x = number(random);
  return v;
}

inline std::vector<float> pixels(std::size_t n) {
  std::mt19937 random(2);
  std::uniform_real_distribution<float> pixel(0, 1);
  std::vector<float> v(n);
  for (float& x : v) x = pixel(random);
  return v;
}

inline std::vector<std::int32_t> classes(std::size_t n, unsigned count = 10) {
  std::mt19937 random(3);
  std::vector<std::int32_t> v(n);
  for (std::int32_t& y : v) y = static_cast<std::int32_t>(random() % count);
  return v;
}

/// Row-major noise for a matrix [rows, columns] that the hand-written program stores in panels of 32 columns.
inline void fill_from_panels(std::span<float> to, std::size_t rows, double scale, unsigned seed = 1) {
  constexpr std::size_t panel = 32;
  const std::vector<float> v = noise(to.size(), scale, seed);
  const std::size_t columns = to.size() / rows;
  for (std::size_t i = 0; i < to.size(); ++i) {
    const std::size_t row = i / columns, column = i % columns;
    to[i] = v[column / panel * panel * rows + row * panel + column % panel];
  }
}
/// Row-major noise for a matrix that it stores by columns.
inline void fill_from_columns(std::span<float> to, std::size_t rows, double scale, unsigned seed = 1) {
  const std::vector<float> v = noise(to.size(), scale, seed);
  const std::size_t columns = to.size() / rows;
  for (std::size_t i = 0; i < to.size(); ++i) to[i] = v[i % columns * rows + i / columns];
}

/// Noise for rows that the hand-written program stores with a padding of 16 numbers, without the padding.
inline std::vector<float> padded_noise(std::size_t rows, std::size_t columns, unsigned seed) {
  const std::vector<float> v = noise(rows * (columns + 16), 1, seed);
  std::vector<float> to(rows * columns);
  for (std::size_t i = 0; i < to.size(); ++i) to[i] = v[i / columns * (columns + 16) + i % columns];
  return to;
}

}  // namespace bench
