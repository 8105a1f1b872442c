// SPDX-License-Identifier: Apache-2.0
// The streams of a device: queues of work. Work of one stream runs in order; two streams run at the same time, except
// where one is ordered behind the other.
#pragma once
#include <cstdint>

namespace crochet::cuda {

enum class Stream : std::uint8_t {
  compute,   ///< launches, and copies that belong between them
  copies,    ///< of feeds, for the next launch
  downloads  ///< of values that another thread waits for
};
inline constexpr int stream_count = 3;

}  // namespace crochet::cuda
