// SPDX-License-Identifier: Apache-2.0
// Data for the programs: invented flowers of three kinds, distinguished by eight measurements.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace programs {

inline constexpr std::size_t measurements = 8, kinds = 3;

struct Batch {
  std::vector<float> images;
  std::vector<std::int32_t> labels;
};

/// Each kind has large values in two measurements; the rest is noise, the same on every machine.
class Flowers {
 public:
  Batch next(std::size_t size) {
    Batch batch;
    for (std::size_t i = 0; i < size; ++i) {
      const std::size_t kind = i % kinds;
      for (std::size_t j = 0; j < measurements; ++j) {
        batch.images.push_back((j / 2 == kind ? 1.0f : 0.0f) + 0.3f * noise());
      }
      batch.labels.push_back(static_cast<std::int32_t>(kind));
    }
    return batch;
  }

 private:
  /// In [-1, 1).
  float noise() {
    state_ = state_ * 6364136223846793005U + 1442695040888963407U;
    return static_cast<float>(static_cast<std::int32_t>(state_ >> 32)) / 2147483648.0f;
  }

  std::uint64_t state_ = 1;
};

}  // namespace programs
