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

/// Driver functions that the executor may not use. A driver can lack some of them.
struct MoreFunctions {
  using Driver = crochet::cuda::detail::DriverFunctions;

  int (*launch)(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*, void**,
                void**) = nullptr;
  int (*copy)(Driver::Pointer, Driver::Pointer, std::size_t, void*) = nullptr;
  int (*begin_capture)(void*, int) = nullptr;
  int (*end_capture)(void*, void**) = nullptr;
  int (*instantiate)(void**, void*, unsigned long long) = nullptr;
  int (*launch_graph)(void*, void*) = nullptr;

  explicit MoreFunctions(const Driver& driver) {
    const auto& library = driver.library;
    library.find("cuLaunchKernel", launch);
    library.find("cuMemcpyDtoDAsync_v2", copy);
    library.find("cuStreamBeginCapture_v2", begin_capture);
    library.find("cuStreamEndCapture", end_capture);
    library.find("cuGraphInstantiateWithFlags", instantiate);
    library.find("cuGraphLaunch", launch_graph);
  }
  bool has_graphs() const { return launch && begin_capture && end_capture && instantiate && launch_graph; }
};

/// The GPU of device(), and a stream. Not copyable. Every member throws DeviceError.
class RawGpu {
 public:
  using Kernel = void*;
  using Graph = void*;

  RawGpu() : device_(device()), more_(driver_) {
    check(driver_.create_stream(&stream_, crochet::cuda::detail::non_blocking), "cuStreamCreate");
  }
  RawGpu(const RawGpu&) = delete;
  RawGpu& operator=(const RawGpu&) = delete;
  ~RawGpu() { driver_.destroy_stream(stream_); }

  const MoreFunctions& more() const { return more_; }
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
    require(more_.launch != nullptr, "cuLaunchKernel");
    void* all[] = {&arguments..., nullptr};
    check(more_.launch(kernel, static_cast<unsigned>(blocks), 1, 1, threads, 1, 1, 0, stream_, all, nullptr),
          "cuLaunchKernel");
  }
  template <class... A>
  void launch_cooperative(Kernel kernel, int blocks, A... arguments) const {
    void* all[] = {&arguments..., nullptr};
    check(driver_.launch(kernel, static_cast<unsigned>(blocks), 1, 1, threads, 1, 1, 0, stream_, all),
          "cuLaunchCooperativeKernel");
  }
  void copy(void* to, const void* from, std::size_t bytes) const {
    require(more_.copy != nullptr, "cuMemcpyDtoDAsync");
    check(more_.copy(address(to), address(from), bytes, stream_), "cuMemcpyDtoDAsync");
  }
  void upload(void* to, const void* from, std::size_t bytes) const {
    check(driver_.upload(address(to), from, bytes, stream_), "cuMemcpyHtoDAsync");
  }
  /// A graph of what `work()` launches.
  template <class Work>
  Graph graph(const Work& work) const {
    require(more_.has_graphs(), "cuGraphLaunch");
    Graph captured = nullptr, made = nullptr;
    constexpr int thread_local_mode = 1;
    check(more_.begin_capture(stream_, thread_local_mode), "cuStreamBeginCapture");
    work();
    check(more_.end_capture(stream_, &captured), "cuStreamEndCapture");
    check(more_.instantiate(&made, captured, 0), "cuGraphInstantiate");
    return made;
  }
  void launch(Graph graph) const { check(more_.launch_graph(graph, stream_), "cuGraphLaunch"); }
  void wait() const { check(driver_.wait_stream(stream_), "cuStreamSynchronize"); }

  static constexpr unsigned threads = 256;

 private:
  static crochet::cuda::detail::DriverFunctions::Pointer address(const void* p) {
    return reinterpret_cast<crochet::cuda::detail::DriverFunctions::Pointer>(p);
  }
  static void require(bool has, const char* function) {
    if (!has) throw crochet::DeviceError(std::string("bench: this driver has no ") + function);
  }
  static void check(int code, const char* function) {
    if (code == 0) return;
    throw crochet::DeviceError(std::string("bench: ") + function + " returns " + std::to_string(code));
  }

  std::shared_ptr<Device> device_;  ///< its context is in use
  crochet::cuda::detail::DriverFunctions driver_;
  MoreFunctions more_;
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
