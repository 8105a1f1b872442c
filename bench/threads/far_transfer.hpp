// SPDX-License-Identifier: Apache-2.0
// Included in front of every source of crochet_far: signals between the threads of a team take longer, as between cores
// that are far apart.
#pragma once
#include <cstdint>

#include <crochet/kernels/spin.hpp>
#include <crochet/kernels/transfer.hpp>

namespace bench {
inline std::int64_t transfer_ns = 0;  ///< what a signal takes in addition
}

template <>
struct crochet::kernel::TransferDelay<void> {
  static void pass() {
    for (const std::int64_t end = monotonic_ns() + bench::transfer_ns; monotonic_ns() < end;) {
    }
  }
};
