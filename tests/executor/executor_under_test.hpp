// SPDX-License-Identifier: Apache-2.0
// The executor that the tests of models run: the CPU's or, where CROCHET_TEST_SOFTWARE_DEVICE is defined, the CUDA
// executor on a device in software. So one test is a test of both.
#pragma once
#include <cstdint>

#include <crochet/executor/cpu.hpp>

#if defined(CROCHET_TEST_SOFTWARE_DEVICE)
#include <crochet/executor/cuda/executor.hpp>

#include "../cuda/emulation/software_device.hpp"
#endif

namespace crochet {

#if defined(CROCHET_TEST_SOFTWARE_DEVICE)
template <class Model, class Backend = kernel::Tiles>
using ExecutorUnderTest = cuda::Executor<emulation::SoftwareDevice, Model>;
/// `threads`: 1, 2 and 3 and more are devices of as many blocks, whose threads run in different orders.
template <class Model, class Backend = kernel::Tiles>
ExecutorUnderTest<Model> make_executor_under_test(int threads, std::uint64_t seed) {
  constexpr emulation::Order orders[] = {emulation::Order::forward, emulation::Order::backward,
                                         emulation::Order::shuffled};
  const auto device = std::make_shared<emulation::SoftwareDevice>(threads, orders[threads < 3 ? threads - 1 : 2]);
  return ExecutorUnderTest<Model>(device, {.seed = seed});
}
/// The members that probes see: a device counts as one.
constexpr int members_under_test(int) { return 1; }
#else
template <class Model, class Backend = kernel::Tiles>
using ExecutorUnderTest = cpu::Executor<Backend, Model>;
template <class Model, class Backend = kernel::Tiles>
ExecutorUnderTest<Model, Backend> make_executor_under_test(int threads, std::uint64_t seed) {
  return ExecutorUnderTest<Model, Backend>({threads, seed});
}
constexpr int members_under_test(int threads) { return threads; }
#endif

}  // namespace crochet
