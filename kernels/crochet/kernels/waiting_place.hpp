// SPDX-License-Identifier: Apache-2.0
// WaitingPlace: where one thread waits for signals of others. It spins for a short time, then blocks.
#pragma once
#include <atomic>

#include <crochet/base/instruction_set.hpp>
#include <crochet/kernels/spin.hpp>
#include <crochet/kernels/transfer.hpp>

namespace crochet::kernel::CROCHET_ISA {

/// Memory that signals are written to and read from must be atomic, with sequentially consistent stores and loads: a
/// thread that signals stores and then reads whether the other blocks; a thread that waits stores that it blocks and
/// then reads the signal again. One of the two reads the other's store, so no signal is lost.
class WaitingPlace {
 public:
  /// Waits until ready() returns true. It must return true again when it is called once more.
  template <class Ready>
  void wait_until(const Ready& ready) {
    for (Spin<> spin; !ready();) {
      if (!spin.pause()) block(ready);
    }
    TransferDelay<>::pass();
  }
  /// Called by other threads after they have stored a signal. Costs a load unless the thread blocks.
  void wake() {
    if (blocks_.load(std::memory_order_seq_cst) == 0) [[likely]]
      return;
    blocks_.store(0, std::memory_order_seq_cst);
    blocks_.notify_one();
  }

 private:
  template <class Ready>
  [[gnu::noinline]] void block(const Ready& ready) {
    blocks_.store(1, std::memory_order_seq_cst);
    if (!ready()) blocks_.wait(1, std::memory_order_seq_cst);
    blocks_.store(0, std::memory_order_seq_cst);
  }

  std::atomic<int> blocks_{0};  ///< 1: the thread blocks, or is about to
};

}  // namespace crochet::kernel::CROCHET_ISA
