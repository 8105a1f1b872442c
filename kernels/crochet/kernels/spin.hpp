// SPDX-License-Identifier: Apache-2.0
// Spin: an active wait that ends after a time. Its limit is a time and not a count, because a pause takes between a few
// and 140 cycles, depending on the processor.
#pragma once
#include <cstdint>
#include <ctime>

#include <crochet/base/config.hpp>
#include <crochet/base/instruction_set.hpp>

namespace crochet::kernel::CROCHET_ISA {

/// Nanoseconds of the monotonic clock. (<chrono> would add to the compile time of every model.)
inline std::int64_t monotonic_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

/// Clock: returns nanoseconds.
template <auto Clock = &monotonic_ns>
class Spin {
 public:
  /// The time of an active wait, in nanoseconds. A thread that blocks takes some microseconds to wake, so shorter waits
  /// are cheaper active; longer ones would take a core from other threads.
  static constexpr std::int64_t limit = 50'000;

  /// Pauses for some cycles. Returns false when the wait has taken `limit`.
  bool pause() {
    relax();
    return ++pauses_ % between != 0 || in_time();
  }

 private:
  static constexpr unsigned between = 32;  ///< pauses between two looks at the clock

  [[gnu::noinline]] bool in_time() {
    const std::int64_t now = Clock();
    if (pauses_ == between) end_ = now + limit;
    return now < end_;
  }
  static void relax() {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
  }

  unsigned pauses_ = 0;
  std::int64_t end_ = 0;
};

}  // namespace crochet::kernel::CROCHET_ISA
