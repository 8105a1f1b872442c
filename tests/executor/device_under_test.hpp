// SPDX-License-Identifier: Apache-2.0
// The device that a test's models are compiled for, so that one test is a test of several executors: the CPU; where
// CROCHET_TEST_SOFTWARE_DEVICE is defined, a device in software for the CUDA executor; where CROCHET_TEST_GPU is
// defined, the GPU of the machine.
#pragma once
#include <cstdint>
#include <memory>

#include <crochet/executor/cpu.hpp>

#if defined(CROCHET_TEST_GPU)
#include <crochet/executor/cuda/driver.hpp>
#include <crochet/executor/cuda/executor.hpp>
#elif defined(CROCHET_TEST_SOFTWARE_DEVICE)
#include <crochet/executor/cuda/executor.hpp>

#include "../cuda/emulation/software_device.hpp"
#endif

namespace crochet {

#if defined(CROCHET_TEST_GPU)
using TestedDevice = cuda::GpuDevice;
/// One for all tests of a program: a GPU's context takes a fraction of a second, and compiled plans are kept.
inline std::shared_ptr<TestedDevice> tested_device(int) {
  static const auto device = std::make_shared<TestedDevice>();
  return device;
}
/// For one of several ranks, which are threads.
inline std::shared_ptr<TestedDevice> device_of_rank(int) { return std::make_shared<TestedDevice>(); }
#elif defined(CROCHET_TEST_SOFTWARE_DEVICE)
using TestedDevice = emulation::SoftwareDevice;
/// `threads`: 1, 2 and 3 and more are devices of as many blocks, whose threads run in different orders.
inline std::shared_ptr<TestedDevice> tested_device(int threads) {
  constexpr emulation::Order orders[] = {emulation::Order::forward, emulation::Order::backward,
                                         emulation::Order::shuffled};
  return std::make_shared<TestedDevice>(threads, orders[threads < 3 ? threads - 1 : 2]);
}
inline std::shared_ptr<TestedDevice> device_of_rank(int threads) { return tested_device(threads); }
#endif

#if defined(CROCHET_TEST_GPU) || defined(CROCHET_TEST_SOFTWARE_DEVICE)
/// `threads`: as for tested_device().
struct DeviceUnderTest {
  int threads = 1;
  std::uint64_t seed = 0;

  static constexpr bool is_device = true, has_shards = false, exchanges_on_device = true;

  template <class Model, class... Extensions>
  using executor_of_rank = cuda::Executor<TestedDevice, Model, Extensions...>;
  [[nodiscard]] cuda::DeviceSettings<TestedDevice> settings_of_rank(kernel::Exchange* exchange) const {
    return {device_of_rank(threads), {.seed = seed, .exchange = exchange}};
  }
  template <class Model>
  auto compile() const {
    return cuda::Executor<TestedDevice, Model>(tested_device(threads), {.seed = seed});
  }
};
/// Whether a device runs the steps, and not the host's threads.
inline constexpr bool on_device_under_test = true;
/// The members that probes see: a device counts as one.
constexpr int members_under_test(int) { return 1; }
#else
/// One thread unless a test needs more, so that results do not depend on the machine.
struct DeviceUnderTest {
  int threads = 1;
  std::uint64_t seed = 0;

  static constexpr bool is_device = true, has_shards = true, exchanges_on_device = false;

  template <class Model, class... Extensions>
  using executor_of_rank = Cpu::executor_of_rank<Model, Extensions...>;
  [[nodiscard]] auto settings_of_rank(kernel::Exchange* exchange) const {
    return Cpu{threads, seed}.settings_of_rank(exchange);
  }
  template <class Model>
  auto compile() const {
    return Cpu{threads, seed}.compile<Model>();
  }
};
inline constexpr bool on_device_under_test = false;
constexpr int members_under_test(int threads) { return threads; }
#endif

}  // namespace crochet
