// SPDX-License-Identifier: Apache-2.0
// A training on a driver in software (fake_driver.cpp) of which each call fails in turn: the program gets an exception
// that names the driver's reason, and everything is released.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <unistd.h>
#include <crochet/base/exceptions.hpp>
#include <crochet/crochet.hpp>
#include <crochet/executor/cuda.hpp>
#include <crochet/executor/cuda/cubin_cache.hpp>
#include <crochet/executor/cuda/nvrtc.hpp>
#include <crochet/executor/cuda/plan_compiler.hpp>
#include <crochet/executor/cuda/plan_text.hpp>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

namespace crochet {
namespace driver_failures_test {

struct Counting {
  static constexpr void define(GraphBuilder& g) {
    const Tensor x = g.placeholder<float>("x", {g.dynamic("rows"), 3});
    const Tensor w = g.variable<float>("w", {3}, zeros());
    const Tensor loss = g.name("loss", reduce_sum(w + x));
    g.name("train", minimize(loss, SGD{.learning_rate = -1.0}));
  }
};
using Gpu = cuda::Executor<cuda::GpuDevice, Counting>;
using Train = Demand<Names<Name<"loss">>, Names<Name<"train">>>;

/// What fails, and what is left.
class FakeDriver {
 public:
  static constexpr int out_of_memory = 2, illegal_address = 700;
  static void fail(int from, bool all, int with) {
    reinterpret_cast<void (*)(int, int, int)>(function("crochet_fake_fail"))(from, all ? 1 : 0, with);
  }
  static int calls() { return number("crochet_fake_made"); }
  static int alive() { return number("crochet_fake_alive"); }

 private:
  static void* function(const char* name) { return dlsym(dlopen("libcuda.so.1", RTLD_NOW), name); }
  static int number(const char* name) { return reinterpret_cast<int (*)()>(function(name))(); }
};

/// Training with feeds from the host and from the device, a snapshot, and values read by the host.
void train(CudaMode mode) {
  const auto device = std::make_shared<cuda::GpuDevice>();
  Gpu executor(device, {.mode = mode, .steps_per_launch = 2});
  Gpu::Workspace workspace;
  executor.initialize();
  const std::vector<float> rows(6, 1.0F);
  for (int run = 0; run < 5; ++run) {
    executor.run<Train>(workspace, feed<"x">(rows));
    (void)executor.violation<Name<"loss">>(workspace, FiniteRule{});
  }
  (void)executor.snapshot_variables([](std::string_view, const auto&, const auto&) {});
  (void)executor.fetch<Name<"loss">>(workspace);
  executor.variable(Name<"w">{})[0] = 1;
  const std::vector<float> more(12, 1.0F);
  executor.run<Train>(workspace, feed<"x">(more));
  (void)executor.finish_watch<Name<"loss">>(workspace, FiniteRule{});
  executor.for_each_variable([](std::string_view, const auto&, const auto&) {});
}

class DriverFailures : public ::testing::TestWithParam<CudaMode> {
 protected:
  // The code of the plan comes from the cache. (NVRTC calls functions of the driver that the fake one does not have.)
  void SetUp() override {
    if (!cuda::has_nvrtc()) GTEST_SKIP() << "there is no NVRTC here";
    setenv("CROCHET_CACHE_DIR", folder_.c_str(), 1);
    using T = cuda::DeviceTables<Counting>;
    const std::string text = cuda::plan_text(cuda::StoredSource<cpu::Planned<T, Train>>::source(),
                                             MatmulPrecision::fp32, cuda::ProductParts::small_tile);
    cuda::CubinCache(folder_).find_or_compile(cuda::plan_cache_key(text, 90), [] { return std::string("code"); });
  }
  void TearDown() override {
    FakeDriver::fail(0, false, 0);
    std::filesystem::remove_all(folder_);
  }

 private:
  const std::string folder_ = ::testing::TempDir() + "crochet-driver-failures-test-" + std::to_string(getpid());
};

TEST_P(DriverFailures, AreExceptionsAndReleaseEverything) {
  FakeDriver::fail(0, false, 0);
  train(GetParam());
  const int calls = FakeDriver::calls();
  ASSERT_GT(calls, 50);
  ASSERT_EQ(FakeDriver::alive(), 0);
  int thrown = 0;
  for (const int with : {FakeDriver::out_of_memory, FakeDriver::illegal_address}) {
    for (const bool all : {false, true}) {
      for (int call = 1; call <= calls; ++call) {
        SCOPED_TRACE(::testing::Message() << "call " << call << (all ? " and all behind" : "") << " with " << with);
        FakeDriver::fail(call, all, with);
        try {
          train(GetParam());
        } catch (const ResourceExhaustedError& error) {
          EXPECT_EQ(with, FakeDriver::out_of_memory) << error.what();
          ++thrown;
        } catch (const DeviceError& error) {
          EXPECT_NE(std::string(error.what()).find(std::to_string(with)), std::string::npos) << error.what();
          ++thrown;
        }
        EXPECT_EQ(FakeDriver::alive(), 0);
        if (HasFailure()) return;
      }
    }
  }
  EXPECT_GT(thrown, 2 * calls);
}
INSTANTIATE_TEST_SUITE_P(Modes, DriverFailures, ::testing::Values(CudaMode::steps_per_launch, CudaMode::graph));

}  // namespace driver_failures_test
}  // namespace crochet
