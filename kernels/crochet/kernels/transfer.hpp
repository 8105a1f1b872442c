// SPDX-License-Identifier: Apache-2.0
// TransferDelay: an additional cost of a signal between two threads, for benchmarks of cores that are far apart.
#pragma once
#include <crochet/base/instruction_set.hpp>

namespace crochet::kernel::CROCHET_ISA {

/// Called where a thread has received another's signal. Does nothing. A benchmark specialises TransferDelay<void> with
/// a delay, before it includes an executor.
template <class = void>
struct TransferDelay {
  static void pass() {}
};

}  // namespace crochet::kernel::CROCHET_ISA
