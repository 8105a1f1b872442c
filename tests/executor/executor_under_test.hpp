// SPDX-License-Identifier: Apache-2.0
// The executor that the tests of operations run, on the device of device_under_test.hpp.
#pragma once
#include "device_under_test.hpp"

namespace crochet {

#if defined(CROCHET_TEST_GPU) || defined(CROCHET_TEST_SOFTWARE_DEVICE)
template <class Model, class Backend = kernel::Tiles>
using ExecutorUnderTest = cuda::Executor<TestedDevice, Model>;
template <class Model, class Backend = kernel::Tiles>
ExecutorUnderTest<Model> make_executor_under_test(int threads, std::uint64_t seed) {
  return DeviceUnderTest{threads, seed}.compile<Model>();
}
#else
template <class Model, class Backend = kernel::Tiles>
using ExecutorUnderTest = cpu::Executor<Backend, Model>;
template <class Model, class Backend = kernel::Tiles>
ExecutorUnderTest<Model, Backend> make_executor_under_test(int threads, std::uint64_t seed) {
  return ExecutorUnderTest<Model, Backend>({threads, seed});
}
#endif

}  // namespace crochet
