// SPDX-License-Identifier: Apache-2.0
// GpuDevice on a driver in software (fake_driver.cpp): what it does, and the errors that a real one would cause.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <unistd.h>
#include <crochet/base/exceptions.hpp>
#include <crochet/executor/cuda/cubin_cache.hpp>
#include <crochet/executor/cuda/driver.hpp>
#include <crochet/executor/cuda/launch_times.hpp>
#include <crochet/executor/cuda/nvrtc.hpp>
#include <crochet/executor/cuda/plan_compiler.hpp>
#include <crochet/executor/cuda/plan_text.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace crochet::cuda {
namespace driver_test {

class Driver : public ::testing::Test {
 protected:
  void TearDown() override { unsetenv("CROCHET_FAKE_DRIVER"); }
  static void break_it(const char* how) { setenv("CROCHET_FAKE_DRIVER", how, 1); }
  /// The message of the Error that `run` throws.
  template <class Error, class Run>
  static std::string message_of(Run run) {
    try {
      run();
    } catch (const Error& error) {
      return error.what();
    }
    ADD_FAILURE() << "it must throw";
    return {};
  }
};

/// What the program called since it started to listen.
class Calls {
 public:
  Calls() { reinterpret_cast<void (*)()>(function("crochet_fake_forget_calls"))(); }
  std::string text() const { return reinterpret_cast<const char* (*)()>(function("crochet_fake_calls"))(); }

 private:
  static void* function(const char* name) { return dlsym(dlopen("libcuda.so.1", RTLD_NOW), name); }
};

/// The context of this thread.
class ContextOfThread {
 public:
  static void set(void* context) { reinterpret_cast<int (*)(void*)>(function("cuCtxSetCurrent"))(context); }
  static void* get() {
    void* context = nullptr;
    reinterpret_cast<int (*)(void**)>(function("cuCtxGetCurrent"))(&context);
    return context;
  }

 private:
  static void* function(const char* name) { return dlsym(dlopen("libcuda.so.1", RTLD_NOW), name); }
};

int number_behind(const std::string& text, std::string_view what) {
  return std::stoi(text.substr(text.find(what) + what.size()));
}
std::string in(int stream) { return " in stream " + std::to_string(stream) + "\n"; }

/// A folder in which the code of a text is cached. (NVRTC calls functions of the driver that the fake one does not
/// have.)
class CodeInCache {
 public:
  explicit CodeInCache(const std::string& text)
      : folder_(::testing::TempDir() + "crochet-driver-test-" + std::to_string(getpid())) {
    setenv("CROCHET_CACHE_DIR", folder_.c_str(), 1);
    CubinCache(folder_).find_or_compile(plan_cache_key(text, 90), [] { return std::string("code"); });
  }
  CodeInCache(const CodeInCache&) = delete;
  CodeInCache& operator=(const CodeInCache&) = delete;
  ~CodeInCache() { std::filesystem::remove_all(folder_); }

 private:
  std::string folder_;
};

/// The text of a plan for launches without products, or with tiles up to the largest one.
template <class Plan>
std::string text_of(int largest_tile = ProductParts::small_tile) {
  return plan_text(Plan::source(), MatmulPrecision::fp32, largest_tile);
}

/// A plan without steps.
struct Nothing {
  static PlanSource source() { return {}; }
};

TEST_F(Driver, HasANameAndBlocks) {
  const GpuDevice device;
  EXPECT_EQ(device.name(), "Fake GPU, sm_90");
  EXPECT_EQ(device.blocks(), 4);
  EXPECT_EQ(device.pci_bus_id(), "0000:3B:00.0");
}

TEST_F(Driver, CopiesMemory) {
  GpuDevice device;
  std::vector<int> from(100, 7), to(100);
  void* const memory = device.allocate(400, "a test");
  device.upload(memory, from.data(), 400);
  device.download(to.data(), memory, 400);
  EXPECT_EQ(to, from);
  device.clear(memory, 400);
  device.download(to.data(), memory, 400);
  EXPECT_EQ(to, std::vector<int>(100));
  const GpuDevice::Event first = device.record(Stream::compute), second = device.record(Stream::copies);
  device.wait(second);
  device.wait(first);
  device.wait(first);  // over: no effect
  device.release(memory);
}

TEST_F(Driver, MeasuresTheTimeBetweenMarks) {
  GpuDevice device;
  EXPECT_EQ(device.number(), 0);
  for (int run = 0; run < 2; ++run) {
    device.start_marks();
    EXPECT_EQ(device.mark(), 0U);
    EXPECT_EQ(device.mark(), 1U);
    EXPECT_NEAR(device.seconds_between(0, 1), 1.5e-3, 1e-9);
  }
  break_it("no_times");
  const std::string text = message_of<DeviceError>([&] { (void)device.seconds_between(0, 1); });
  EXPECT_NE(text.find("cannot read the time between two events"), std::string::npos) << text;
}

/// The nodes of two steps.
constexpr std::array<std::int32_t, 2> two_nodes{5, 3};
/// Keeps the times of steps.
struct Times {
  std::vector<std::array<double, 3>> shown{};  ///< the node, its begin and end in milliseconds
  template <std::size_t I>
  void on_node_device_times(double begin, double end) {
    shown.push_back({static_cast<double>(I), 1e3 * begin, 1e3 * end});
  }
};
TEST_F(Driver, ReadsTheTimesThatALaunchHasWritten) {
  if (!has_nvrtc()) GTEST_SKIP() << "there is no NVRTC here";
  const auto device = std::make_shared<GpuDevice>();
  const CodeInCache code(text_of<Nothing>());
  DeviceBytes<GpuDevice> memory;
  Times times;
  const DueProbes<Times> probes({}, &times);
  const Calls calls;
  LaunchTimes<GpuDevice, 2> measured(device, memory, probes);
  Launch launch;
  measured.begin(launch);
  device->launch<Nothing>(launch);
  EXPECT_EQ(launch.end_step, 2);
  const std::array<std::uint64_t, 3> written{7'000'000, 7'250'000,
                                             7'500'000};  // the device's memory is the host's here
  std::copy(written.begin(), written.end(), launch.step_times);
  measured.show<two_nodes>(probes);
  const int compute = number_behind(calls.text(), "stream "), events = number_behind(calls.text(), "record event ");
  const auto record = [&](int event) { return "record event " + std::to_string(event) + in(compute); };
  const std::string all = "wait" + in(compute) + "wait" + in(compute + 1) + "wait" + in(compute + 2);
  EXPECT_EQ(calls.text(), all + record(events) + all + record(events + 1) + "launch" + in(compute) + "download" +
                              in(compute) + "wait" + in(compute));
  ASSERT_EQ(times.shown.size(), 2U);
  for (int step = 0; step < 2; ++step) {  // 1.5 ms lie between the two events
    const auto& [node, begin, end] = times.shown[static_cast<std::size_t>(step)];
    EXPECT_EQ(node, step == 0 ? 5 : 3);
    EXPECT_NEAR(begin, 1.5 + 0.25 * step, 1e-6);
    EXPECT_NEAR(end, 1.75 + 0.25 * step, 1e-6);
  }
}

TEST_F(Driver, CopiesFeedsInAStreamOfTheirOwn) {
  GpuDevice device;
  std::vector<int> from(100, 7), to(100);
  void* const memory = device.allocate(400, "a test");
  const Calls calls;
  device.upload_pinned(memory, from.data(), 400);
  device.order(Stream::copies, Stream::compute);
  device.download(to.data(), memory, 400);
  const std::string text = calls.text();
  const int copies = number_behind(text, "stream "), compute = copies - 1;
  const std::string event = std::to_string(number_behind(text, "event "));
  EXPECT_EQ(text, "upload" + in(copies) + "record event " + event + in(copies) + "behind event " + event + in(compute) +
                      "download" + in(compute) + "wait" + in(compute));
  device.release(memory);
}

TEST_F(Driver, GathersRowsInTheStreamOfCopies) {
  GpuDevice device;
  if (!has_nvrtc()) GTEST_SKIP() << "there is no NVRTC here";
  const CodeInCache code(gather_text());
  void* const memory = device.allocate(400, "a test");
  const Calls calls;
  device.gather(static_cast<const RowGather*>(memory), 2);
  device.synchronize();
  const int copies = number_behind(calls.text(), "stream ");
  EXPECT_EQ(calls.text(),
            "launch alone" + in(copies) + "wait" + in(copies - 1) + "wait" + in(copies) + "wait" + in(copies + 1));
  device.release(memory);
}

TEST_F(Driver, CopiesSnapshotsInAThirdStreamAndWaitsForTheirEvent) {
  GpuDevice device;
  std::vector<int> from(100, 7), to(100);
  void *const memory = device.allocate(400, "a test"), *const copy = device.allocate(400, "a test");
  device.upload(memory, from.data(), 400);
  const Calls calls;
  device.copy(copy, memory, 400);
  device.order(Stream::compute, Stream::downloads);
  device.download_later(to.data(), copy, 400, Stream::downloads);
  device.wait(device.record(Stream::downloads));
  const std::string text = calls.text();
  const int compute = number_behind(text, "stream "), downloads = compute + 2;
  const std::string order = std::to_string(number_behind(text, "event ")),
                    copied = std::to_string(number_behind(text, "wait for event "));
  EXPECT_EQ(text, "copy" + in(compute) + "record event " + order + in(compute) + "behind event " + order +
                      in(downloads) + "download" + in(downloads) + "record event " + copied + in(downloads) +
                      "wait for event " + copied + "\n");
  EXPECT_EQ(to, from);
  device.release(memory);
  device.release(copy);
}

/// Steps a and b, c behind a barrier, d and e behind another one.
struct FiveSteps {
  static PlanSource source() {
    static constexpr std::array<SourceStep, 5> steps{{{}, {}, {.barrier = true}, {.barrier = true}, {}}};
    return {steps, {}, {}};
  }
};
TEST_F(Driver, RecordsARunAsAGraphOnce) {
  GpuDevice device;
  if (!has_nvrtc()) GTEST_SKIP() << "there is no NVRTC here";
  const CodeInCache code(text_of<FiveSteps>());
  unsigned char* bases[4]{};
  WatchedValue watched;
  Launch launch;
  launch.bases = bases, launch.base_count = 2, launch.times = 2;
  launch.watched = &watched, launch.watched_count = 1;
  const Calls calls;
  device.launch_graphs<FiveSteps>(launch);
  const std::string first = calls.text();
  const int n = number_behind(first, "node "), graph = number_behind(first, "launch graph ");
  const auto nodes = [](int a) {
    const auto node = [a](int k) { return std::to_string(a + k); };
    return "node " + node(0) + " behind\nnode " + node(1) + " behind\nnode " + node(2) + " behind " + node(0) + " " +
           node(1) + "\nnode " + node(3) + " behind " + node(2) + "\nnode " + node(4) + " behind " + node(2) +
           "\nnode " + node(5) + " behind " + node(3) + " " + node(4) + "\n";
  };
  const auto launched = [&](int g) {
    return "launch graph " + std::to_string(g) + in(number_behind(first, "stream "));
  };
  EXPECT_EQ(first, nodes(n) + launched(graph) + nodes(n + 6) + launched(graph + 1));
  const Calls again;
  device.launch_graphs<FiveSteps>(launch);
  EXPECT_EQ(again.text(), launched(graph) + launched(graph + 1));
}

/// A step whose kernel has a barrier of the grid.
struct OwnBarrier {
  static PlanSource source() {
    static constexpr std::array<SourceStep, 2> steps{{{}, {.root = "group_norm_scale_gradient"}}};
    return {steps, {}, {}};
  }
};
TEST_F(Driver, LaunchesANodeWithABarrierOfTheGridCooperatively) {
  GpuDevice device;
  if (!has_nvrtc()) GTEST_SKIP() << "there is no NVRTC here";
  const CodeInCache code(text_of<OwnBarrier>());
  unsigned char* bases[2]{};
  Launch launch;
  launch.bases = bases, launch.base_count = 2, launch.times = 1;
  const Calls calls;
  device.launch_graphs<OwnBarrier>(launch);
  const std::string text = calls.text();
  const std::string second = std::to_string(number_behind(text, "node ") + 1);
  EXPECT_NE(text.find("node " + second + " is cooperative"), std::string::npos) << text;
  EXPECT_EQ(text.find("is cooperative"), text.rfind("is cooperative")) << text;
}

TEST_F(Driver, APlanThatDoesNotLoadIsTheSameErrorTwice) {
  GpuDevice device;
  if (!has_nvrtc()) GTEST_SKIP() << "there is no NVRTC here";
  const CodeInCache code(text_of<Nothing>());
  break_it("load_fails");
  Launch launch;
  for (int attempt = 0; attempt < 2; ++attempt) {
    EXPECT_NE(message_of<DeviceError>([&] { device.launch<Nothing>(launch); }).find("cannot load a plan"),
              std::string::npos);
  }
}
TEST_F(Driver, SaysThatNvrtcIsNewerThanTheDriver) {
  GpuDevice device;
  if (!has_nvrtc()) GTEST_SKIP() << "there is no NVRTC here";
  const CodeInCache code(text_of<Nothing>());
  Launch launch;
  for (const std::string driver : {"11.8", "12.4"}) {
    if (std::stoi(nvrtc_version()) <= std::stoi(driver)) continue;  // it makes code for this driver
    break_it(driver == "11.8" ? "cuda_11" : "cuda_12");
    const std::string text = message_of<DeviceError>([&] { device.launch<Nothing>(launch); });
    const std::string of = "NVRTC " + nvrtc_version() + " compiled it, and the driver is of CUDA " + driver;
    EXPECT_NE(text.find("cannot load a plan"), std::string::npos) << text;
    EXPECT_NE(text.find(of + ". Install a newer driver"), std::string::npos) << text;
    EXPECT_EQ(text.find("nvidia-cuda-nvrtc-cu12") != std::string::npos, driver == "12.4") << text;
  }
}
TEST_F(Driver, ReleasesTheContextIfADeviceCannotBeMade) {
  { const GpuDevice first; }  // so that there is a stream
  break_it("no_stream");
  const Calls calls;
  EXPECT_NE(message_of<DeviceError>([] { GpuDevice device; }).find("cannot make a stream"), std::string::npos);
  EXPECT_NE(calls.text().find("release context"), std::string::npos);
}
TEST_F(Driver, WaitsForACopyFromPinnedMemory) {
  GpuDevice device;
  const std::vector<int> values(10, 7);
  void* const memory = device.allocate(40, "a test");
  for (const bool is_pinned : {false, true}) {
    if (is_pinned) break_it("pinned");
    const Calls calls;
    device.upload(memory, values.data(), 40);
    EXPECT_EQ(calls.text().find("wait in stream") != std::string::npos, is_pinned) << calls.text();
    EXPECT_EQ(calls.text().find("refused"), std::string::npos) << calls.text();
  }
  device.release(memory);
}

/// Every call of a device; check() behind each.
template <class Check>
void call_all(const Check& check) {
  GpuDevice device;
  check("a device");
  std::vector<int> values(10, 7);
  void* const memory = device.allocate(40, "a test");
  void* const pinned = device.allocate_pinned(40, "a test");
  check("memory");
  device.upload(memory, values.data(), 40);
  device.upload_pinned(memory, pinned, 40);
  device.copy(memory, memory, 40);
  device.clear(memory, 40);
  check("copies");
  device.download(values.data(), memory, 40);
  device.download_later(pinned, memory, 40, Stream::downloads);
  check("downloads");
  device.order(Stream::copies, Stream::compute);
  device.wait(device.record(Stream::compute));
  device.synchronize();
  check("events");
  (void)device.seconds_between(device.mark(), device.mark());
  check("times");
  device.with_stream(Stream::compute, [](void*) {});
  check("with_stream");
  device.release(memory);
  device.release_pinned(pinned);
  check("released memory");
}
TEST_F(Driver, LeavesTheContextOfTheThreadAsItIs) {
  int other = 0;
  for (void* const context : {static_cast<void*>(&other), static_cast<void*>(nullptr)}) {
    ContextOfThread::set(context);
    const auto check = [&](const char* behind) { EXPECT_EQ(ContextOfThread::get(), context) << behind; };
    call_all(check);
    check("the end of a device");
  }
}
TEST_F(Driver, HasItsContextWithinACall) {
  ContextOfThread::set(nullptr);
  GpuDevice device;
  void* context = nullptr;
  device.with_stream(Stream::compute, [&](void*) { context = ContextOfThread::get(); });
  EXPECT_NE(context, nullptr);
  EXPECT_THROW(device.with_stream(Stream::compute, [](void*) { throw DeviceError("of a library"); }), DeviceError);
  EXPECT_EQ(ContextOfThread::get(), nullptr);
}
TEST_F(Driver, LeavesTheContextAlsoBehindALaunch) {
  if (!has_nvrtc()) GTEST_SKIP() << "there is no NVRTC here";
  ContextOfThread::set(nullptr);
  GpuDevice device;
  const CodeInCache code(text_of<Nothing>());
  device.prepare<Nothing>({});
  EXPECT_EQ(ContextOfThread::get(), nullptr);
  Launch launch;
  device.launch<Nothing>(launch);
  EXPECT_EQ(ContextOfThread::get(), nullptr);
  unsigned char* bases[2]{};
  launch.bases = bases, launch.base_count = 2, launch.times = 1;
  device.launch_graphs<Nothing>(launch);
  EXPECT_EQ(ContextOfThread::get(), nullptr);
}

TEST_F(Driver, SaysThatThereIsNoDevice) {
  break_it("no_device");
  const std::string text = message_of<DeviceError>([] { GpuDevice device; });
  EXPECT_NE(text.find("CUDA_ERROR_NO_DEVICE, 100"), std::string::npos) << text;
}
TEST_F(Driver, SaysHowManyDevicesThereAre) {
  unsetenv("CUDA_VISIBLE_DEVICES");
  const std::string text =
      "crochet: there is no GPU number 3; this process sees 1, counted from 0. CUDA_VISIBLE_DEVICES, a launcher or a "
      "container may hide others: with a GPU for each process use .device = 0";
  EXPECT_EQ(message_of<DeviceError>([] { GpuDevice device(3); }), text);
  setenv("CUDA_VISIBLE_DEVICES", "2", 1);
  EXPECT_EQ(message_of<DeviceError>([] { GpuDevice device(3); }), text + " (CUDA_VISIBLE_DEVICES is \"2\")");
  unsetenv("CUDA_VISIBLE_DEVICES");
}
TEST_F(Driver, SaysThatADeviceIsTooOld) {
  break_it("too_old");
  EXPECT_EQ(message_of<DeviceError>([] { GpuDevice device; }),
            "crochet: the GPU Fake GPU, sm_60 is too old; plans need sm_75 (Turing) or later");
}
TEST_F(Driver, SaysThatADeviceHasNoProductsOnTensorCores) {
  break_it("turing");
  EXPECT_EQ(GpuDevice{}.name(), "Fake GPU, sm_75");
  for (const MatmulPrecision precision : {MatmulPrecision::tf32, MatmulPrecision::bf16}) {
    EXPECT_EQ(
        message_of<DeviceError>([&] { GpuDevice device(0, precision); }),
        "crochet: the GPU Fake GPU, sm_75 has no products in tf32 or bf16, which need sm_80 (Ampere) or later; use "
        ".matmul_precision = crochet::MatmulPrecision::fp32");
  }
}
TEST_F(Driver, SaysWhatMemoryIsMissingAndWhatIsFree) {
  GpuDevice device;
  break_it("no_memory");
  EXPECT_EQ(message_of<DeviceMemoryError>([&] { device.allocate(5000, "the tensors of a run"); }),
            "crochet: the GPU has no memory for the tensors of a run: 5000 bytes were requested and 1000 of 1073741824 "
            "are free; use smaller batches");
}

// Code with large tiles has the small ones too.
TEST_F(Driver, CompilesAPlanAgainForLargerTilesOnly) {
  GpuDevice device;
  if (!has_nvrtc()) GTEST_SKIP() << "there is no NVRTC here";
  Launch launch;
  const auto launches_with = [&](int tile) {
    launch.tables.tile = tile;
    device.launch<Nothing>(launch);
  };
  {
    const CodeInCache code(text_of<Nothing>(ProductParts::medium_tile));
    launches_with(ProductParts::medium_tile);
  }
  break_it("load_fails");  // so that only loaded plans are launched
  launches_with(ProductParts::small_tile);
  launches_with(0);
  launches_with(ProductParts::medium_tile);
  const CodeInCache code(text_of<Nothing>(ProductParts::large_tile));
  EXPECT_NE(message_of<DeviceError>([&] { launches_with(ProductParts::large_tile); }).find("cannot load a plan"),
            std::string::npos);
}

/// The message of a kernel that fails among runs 4 to 8, where wait(device) has waited for runs 1 to 3.
class FailedRuns : public Driver {
 protected:
  static std::string message_behind(void (*wait)(GpuDevice&)) {
    GpuDevice device;
    const CodeInCache code(text_of<Nothing>());
    Launch launch;
    launch.times = 3;
    device.launch<Nothing>(launch);
    wait(device);
    launch.times = 5;
    device.launch<Nothing>(launch);
    break_it("kernel_fails");
    return message_of<DeviceError>([&] { device.synchronize(); });
  }
};
TEST_F(FailedRuns, AreNamedWithTheError) {
  if (!has_nvrtc()) GTEST_SKIP() << "there is no NVRTC here";
  const std::string text = message_behind([](GpuDevice& device) { device.synchronize(); });
  EXPECT_NE(text.find("CUDA_ERROR_ILLEGAL_ADDRESS"), std::string::npos) << text;
  EXPECT_NE(text.find("Runs 4 to 8 of this device were under way"), std::string::npos) << text;
  EXPECT_NE(text.find("CUDA_LAUNCH_BLOCKING=1"), std::string::npos) << text;
}
TEST_F(FailedRuns, AreNotThoseBeforeAnEventThatHasCome) {
  if (!has_nvrtc()) GTEST_SKIP() << "there is no NVRTC here";
  const std::string text = message_behind([](GpuDevice& device) { device.wait(device.record(Stream::compute)); });
  EXPECT_NE(text.find("Runs 4 to 8 of this device were under way"), std::string::npos) << text;
}

}  // namespace driver_test
}  // namespace crochet::cuda
