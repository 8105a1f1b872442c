// SPDX-License-Identifier: Apache-2.0
// The executor that the tests of operations run, on the device of device_under_test.hpp.
#pragma once
#include "device_under_test.hpp"

namespace crochet {

#if defined(CROCHET_TEST_GPU) || defined(CROCHET_TEST_SOFTWARE_DEVICE)
template <class Model, class Backend = kernel::Tiles>
using ExecutorUnderTest = cuda::Executor<TestedDevice, Model>;
template <class Model, class Backend = kernel::Tiles>
ExecutorUnderTest<Model> make_executor_under_test(int threads, std::uint64_t seed, int /*running*/ = 0) {
  return DeviceUnderTest{threads, seed}.compile<Model>();
}
#else
template <class Model, class Backend = kernel::Tiles>
using ExecutorUnderTest = cpu::Executor<Backend, Model>;
/// `running`: the threads that run; 0: all. Small sums, too, are divided into as many parts as there may be.
template <class Model, class Backend = kernel::Tiles>
ExecutorUnderTest<Model, Backend> make_executor_under_test(int threads, std::uint64_t seed, int running = 0) {
  return ExecutorUnderTest<Model, Backend>(
      {.threads = threads, .seed = seed, .running = running == 0 ? threads : running, .divides_all = true});
}
#endif

}  // namespace crochet
