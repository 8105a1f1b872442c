// SPDX-License-Identifier: Apache-2.0
// A batch of generated images, the same in every run: a benchmark of a step needs no data set.
#pragma once
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace bench {

/// Pixels in [0, 1), labels in [0, 10).
struct Batch {
  explicit Batch(std::size_t size) : images(size * 28 * 28), labels(size) {
    std::mt19937 random(1);
    std::uniform_real_distribution<float> pixel(0, 1);
    for (float& x : images) x = pixel(random);
    for (std::int32_t& y : labels) y = static_cast<std::int32_t>(random() % 10);
  }

  std::vector<float> images;
  std::vector<std::int32_t> labels;
};

}  // namespace bench
