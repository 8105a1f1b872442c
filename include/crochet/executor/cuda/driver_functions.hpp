// SPDX-License-Identifier: Apache-2.0
// The functions of NVIDIA's driver that are used, as in cuda.h of CUDA 12 and 13, without that header.
#pragma once
#include <cstddef>

#include <crochet/executor/cuda/shared_library.hpp>

namespace crochet::cuda::detail {

/// CUDA_KERNEL_NODE_PARAMS_v2.
struct KernelNode {
  void* function = nullptr;
  unsigned grid[3] = {1, 1, 1}, block[3] = {256, 1, 1};
  unsigned shared_bytes = 0;
  void** arguments = nullptr;
  void** extra = nullptr;
  void *kernel = nullptr, *context = nullptr;
};

/// CUlaunchAttributeValue, of an attribute that is a number.
struct NodeAttribute {
  alignas(8) int flag = 0;
  char unused[60] = {};
};

struct DriverFunctions {
  using Result = int;
  using Device = int;
  using Context = void*;
  using Stream = void*;
  using Event = void*;
  using Module = void*;
  using Function = void*;
  using Pointer = unsigned long long;
  using Graph = void*;
  using Node = void*;

  const SharedLibrary library{"libcuda.so.1", "libcuda.so"};
  Result (*init)(unsigned) = nullptr;
  Result (*version)(int*) = nullptr;
  Result (*count)(int*) = nullptr;
  Result (*device)(Device*, int) = nullptr;
  Result (*name)(char*, int, Device) = nullptr;
  Result (*attribute)(int*, int, Device) = nullptr;
  Result (*retain)(Context*, Device) = nullptr;
  Result (*release_context)(Device) = nullptr;
  Result (*use)(Context) = nullptr;
  Result (*current)(Context*) = nullptr;
  Result (*free_memory)(std::size_t*, std::size_t*) = nullptr;
  Result (*allocate)(Pointer*, std::size_t) = nullptr;
  Result (*release)(Pointer) = nullptr;
  Result (*allocate_pinned)(void**, std::size_t, unsigned) = nullptr;
  Result (*release_pinned)(void*) = nullptr;
  Result (*upload)(Pointer, const void*, std::size_t, Stream) = nullptr;
  Result (*download)(void*, Pointer, std::size_t, Stream) = nullptr;
  Result (*copy)(Pointer, Pointer, std::size_t, Stream) = nullptr;
  Result (*fill)(Pointer, unsigned char, std::size_t, Stream) = nullptr;
  Result (*create_stream)(Stream*, unsigned) = nullptr;
  Result (*destroy_stream)(Stream) = nullptr;
  Result (*wait_stream)(Stream) = nullptr;
  Result (*create_event)(Event*, unsigned) = nullptr;
  Result (*destroy_event)(Event) = nullptr;
  Result (*record)(Event, Stream) = nullptr;
  Result (*wait_event)(Event) = nullptr;
  Result (*order)(Stream, Event, unsigned) = nullptr;
  Result (*load)(Module*, const void*) = nullptr;
  Result (*unload)(Module) = nullptr;
  Result (*function)(Function*, Module, const char*) = nullptr;
  Result (*launch)(Function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, Stream,
                   void**) = nullptr;
  Result (*bus_id)(char*, int, Device) = nullptr;
  Result (*elapsed)(float*, Event, Event) = nullptr;  // in ms
  Result (*launch_alone)(Function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, Stream, void**,
                         void**) = nullptr;
  Result (*memory_attributes)(unsigned, const int*, void**, Pointer) = nullptr;
  Result (*error_name)(Result, const char**) = nullptr;
  Result (*error_text)(Result, const char**) = nullptr;
  bool complete = false;
  // Of CUDA 12.
  Result (*create_graph)(Graph*, unsigned) = nullptr;
  Result (*add_node)(Node*, Graph, const Node*, std::size_t, const KernelNode*) = nullptr;
  Result (*set_attribute)(Node, int, const NodeAttribute*) = nullptr;
  Result (*instantiate)(Graph*, Graph, unsigned long long) = nullptr;
  Result (*launch_graph)(Graph, Stream) = nullptr;
  Result (*destroy_graph)(Graph) = nullptr;
  Result (*destroy_instance)(Graph) = nullptr;
  bool has_graphs = false;

  DriverFunctions() {
    complete = library.find("cuInit", init) && library.find("cuDriverGetVersion", version) &&
               library.find("cuDeviceGetCount", count) && library.find("cuDeviceGet", device) &&
               library.find("cuDeviceGetName", name) && library.find("cuDeviceGetAttribute", attribute) &&
               library.find("cuDevicePrimaryCtxRetain", retain) &&
               library.find("cuDevicePrimaryCtxRelease_v2", release_context) && library.find("cuCtxSetCurrent", use) &&
               library.find("cuCtxGetCurrent", current) && library.find("cuMemGetInfo_v2", free_memory) &&
               library.find("cuMemAlloc_v2", allocate) && library.find("cuMemFree_v2", release) &&
               library.find("cuMemHostAlloc", allocate_pinned) && library.find("cuMemFreeHost", release_pinned) &&
               library.find("cuMemcpyHtoDAsync_v2", upload) && library.find("cuMemcpyDtoHAsync_v2", download) &&
               library.find("cuMemcpyDtoDAsync_v2", copy) && library.find("cuMemsetD8Async", fill) &&
               library.find("cuStreamCreate", create_stream) && library.find("cuStreamDestroy_v2", destroy_stream) &&
               library.find("cuStreamSynchronize", wait_stream) && library.find("cuEventCreate", create_event) &&
               library.find("cuEventDestroy_v2", destroy_event) && library.find("cuEventRecord", record) &&
               library.find("cuEventSynchronize", wait_event) && library.find("cuStreamWaitEvent", order) &&
               library.find("cuModuleLoadData", load) && library.find("cuModuleUnload", unload) &&
               library.find("cuModuleGetFunction", function) && library.find("cuLaunchCooperativeKernel", launch) &&
               library.find("cuLaunchKernel", launch_alone) && library.find("cuEventElapsedTime", elapsed) &&
               library.find("cuDeviceGetPCIBusId", bus_id) &&
               library.find("cuPointerGetAttributes", memory_attributes) &&
               library.find("cuGetErrorName", error_name) && library.find("cuGetErrorString", error_text);
    has_graphs = library.find("cuGraphCreate", create_graph) && library.find("cuGraphAddKernelNode_v2", add_node) &&
                 library.find("cuGraphKernelNodeSetAttribute", set_attribute) &&
                 library.find("cuGraphInstantiateWithFlags", instantiate) &&
                 library.find("cuGraphLaunch", launch_graph) && library.find("cuGraphDestroy", destroy_graph) &&
                 library.find("cuGraphExecDestroy", destroy_instance);
  }
};

// Constants of cuda.h.
inline constexpr int capability_major = 75, capability_minor = 76, multiprocessor_count = 16;
inline constexpr int out_of_memory = 2, memory_type = 2, cooperative_node = 2;
inline constexpr unsigned with_timing = 0, without_timing = 2, non_blocking = 1;

}  // namespace crochet::cuda::detail
