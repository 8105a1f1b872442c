// SPDX-License-Identifier: Apache-2.0
// RawGpu: kernels of a text, copies and graphs by NVIDIA's driver, for what is measured beside the executor.
#pragma once
#include <crochet/base/exceptions.hpp>
#include <crochet/executor/cuda/driver_functions.hpp>
#include <crochet/executor/cuda/plan_compiler.hpp>

#include <cstddef>
#include <string>
#include <string_view>

#include "device.hpp"

namespace bench {

/// Driver functions that the executor does not use. A driver can lack them.
struct CaptureFunctions {
  int (*begin)(void*, int) = nullptr;
  int (*end)(void*, void**) = nullptr;
  bool complete = false;

  explicit CaptureFunctions(const crochet::cuda::detail::DriverFunctions& driver) {
    const auto& library = driver.library;
    complete =
        library.find("cuStreamBeginCapture_v2", begin) && library.find("cuStreamEndCapture", end) && driver.has_graphs;
  }
};

/// The GPU of device(), and a stream. Its context stays that of the thread. Not copyable. Every member throws
/// DeviceError.
class RawGpu {
 public:
  using Kernel = void*;
  using Graph = void*;

  RawGpu() : device_(device()), capture_(driver_) {
    void* context = nullptr;
    device_->with_stream(crochet::cuda::Stream::compute,
                         [&](void*) { check(driver_.current(&context), "cuCtxGetCurrent"); });
    check(driver_.use(context), "cuCtxSetCurrent");
    check(driver_.create_stream(&stream_, crochet::cuda::detail::non_blocking), "cuStreamCreate");
  }
  RawGpu(const RawGpu&) = delete;
  RawGpu& operator=(const RawGpu&) = delete;
  ~RawGpu() { driver_.destroy_stream(stream_); }

  /// A CUdevice_attribute.
  int attribute(int number) const {
    int value = 0;
    check(driver_.attribute(&value, number, 0), "cuDeviceGetAttribute");
    return value;
  }
  int architecture() const {
    return 10 * attribute(crochet::cuda::detail::capability_major) + attribute(crochet::cuda::detail::capability_minor);
  }

  /// The kernels of a text. They stay loaded.
  void load(std::string_view text) {
    const std::string code = crochet::cuda::compiled_plan(text, architecture());
    check(driver_.load(&module_, code.data()), "cuModuleLoadData");
  }
  Kernel kernel(const char* name) const {
    Kernel found = nullptr;
    check(driver_.function(&found, module_, name), name);
    return found;
  }

  template <class... A>
  void launch(Kernel kernel, int blocks, A... arguments) const {
    void* all[] = {&arguments..., nullptr};
    check(driver_.launch_alone(kernel, static_cast<unsigned>(blocks), 1, 1, threads, 1, 1, 0, stream_, all, nullptr),
          "cuLaunchKernel");
  }
  template <class... A>
  void launch_cooperative(Kernel kernel, int blocks, A... arguments) const {
    void* all[] = {&arguments..., nullptr};
    check(driver_.launch(kernel, static_cast<unsigned>(blocks), 1, 1, threads, 1, 1, 0, stream_, all),
          "cuLaunchCooperativeKernel");
  }
  void copy(void* to, const void* from, std::size_t bytes) const {
    check(driver_.copy(address(to), address(from), bytes, stream_), "cuMemcpyDtoDAsync");
  }
  void upload(void* to, const void* from, std::size_t bytes) const {
    check(driver_.upload(address(to), from, bytes, stream_), "cuMemcpyHtoDAsync");
  }
  /// A graph of what `work()` launches.
  template <class Work>
  Graph graph(const Work& work) const {
    if (!capture_.complete) throw crochet::DeviceError("bench: this driver does not capture graphs");
    Graph captured = nullptr, made = nullptr;
    constexpr int thread_local_mode = 1;
    check(capture_.begin(stream_, thread_local_mode), "cuStreamBeginCapture");
    work();
    check(capture_.end(stream_, &captured), "cuStreamEndCapture");
    check(driver_.instantiate(&made, captured, 0), "cuGraphInstantiate");
    return made;
  }
  void launch(Graph graph) const { check(driver_.launch_graph(graph, stream_), "cuGraphLaunch"); }
  void wait() const { check(driver_.wait_stream(stream_), "cuStreamSynchronize"); }

  static constexpr unsigned threads = 256;

 private:
  static crochet::cuda::detail::DriverFunctions::Pointer address(const void* p) {
    return reinterpret_cast<crochet::cuda::detail::DriverFunctions::Pointer>(p);
  }
  static void check(int code, const char* function) {
    if (code == 0) return;
    throw crochet::DeviceError(std::string("bench: ") + function + " returns " + std::to_string(code));
  }

  std::shared_ptr<Device> device_;  ///< its context is in use
  crochet::cuda::detail::DriverFunctions driver_;
  CaptureFunctions capture_;
  void *stream_ = nullptr, *module_ = nullptr;
};

/// Memory of the device, released at the end.
class RawMemory {
 public:
  explicit RawMemory(std::size_t bytes) : data_(device()->allocate(bytes, "a benchmark")) {
    device()->clear(data_, bytes);
    device()->synchronize();
  }
  RawMemory(const RawMemory&) = delete;
  RawMemory& operator=(const RawMemory&) = delete;
  ~RawMemory() { device()->release(data_); }

  void* data() const { return data_; }

 private:
  void* data_;
};

}  // namespace bench
