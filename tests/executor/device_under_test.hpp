// SPDX-License-Identifier: Apache-2.0
// The device that a test's models are compiled for: the CPU or, where CROCHET_TEST_SOFTWARE_DEVICE is defined, a device
// in software for the CUDA executor. So one test is a test of both.
#pragma once
#include <cstdint>
#include <memory>

#include <crochet/executor/cpu.hpp>

#if defined(CROCHET_TEST_SOFTWARE_DEVICE)
#include <crochet/executor/cuda/executor.hpp>

#include "../cuda/emulation/software_device.hpp"
#endif

namespace crochet {

#if defined(CROCHET_TEST_SOFTWARE_DEVICE)
/// `threads`: 1, 2 and 3 and more are devices of as many blocks, whose threads run in different orders.
struct DeviceUnderTest {
  int threads = 1;
  std::uint64_t seed = 0;

  static constexpr bool is_device = true;

  template <class Model>
  auto compile() const {
    constexpr emulation::Order orders[] = {emulation::Order::forward, emulation::Order::backward,
                                           emulation::Order::shuffled};
    const auto device = std::make_shared<emulation::SoftwareDevice>(threads, orders[threads < 3 ? threads - 1 : 2]);
    return cuda::Executor<emulation::SoftwareDevice, Model>(device, {.seed = seed});
  }
};
/// Whether a device runs the steps, and not the host's threads.
inline constexpr bool on_device_under_test = true;
/// The members that probes see: a device counts as one.
constexpr int members_under_test(int) { return 1; }
#else
using DeviceUnderTest = Cpu;
inline constexpr bool on_device_under_test = false;
constexpr int members_under_test(int threads) { return threads; }
#endif

}  // namespace crochet
