// SPDX-License-Identifier: Apache-2.0
// DataPosition: a place in batches, for checkpoints.
#pragma once

#include <cstdint>

namespace crochet {

/// The position of batches: the epoch and the index of the next batch.
struct DataPosition {
  std::int64_t epoch = 0;
  std::int64_t batch = 0;
  friend bool operator==(const DataPosition&, const DataPosition&) = default;
};

}  // namespace crochet
