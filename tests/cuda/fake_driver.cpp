// SPDX-License-Identifier: Apache-2.0
// A libcuda.so.1 for tests of GpuDevice: memory of the host, launches that do nothing. The environment variable
// CROCHET_FAKE_DRIVER chooses what is wrong: no_device, too_old, turing, no_memory, no_stream, load_fails,
// launch_fails, kernel_fails, no_times, pinned. crochet_fake_calls() is a line for each call that concerns a stream, in
// order.
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

namespace {

constexpr int invalid_value = 1, out_of_memory = 2, invalid_image = 200, no_device = 100, illegal_address = 700,
              launch_failed = 719, not_ready = 600;
constexpr std::size_t largest = std::size_t{1} << 30;
bool launched = false;
std::string calls;
int streams = 0, events = 0, graphs = 0, nodes = 0;

/// Streams and events are numbers, from 1.
void* handle(int number) { return reinterpret_cast<void*>(static_cast<std::size_t>(number)); }
void note(const std::string& call, const void* stream) {
  calls += call + " in stream " + std::to_string(reinterpret_cast<std::size_t>(stream)) + "\n";
}
std::string event_text(const void* event) { return "event " + std::to_string(reinterpret_cast<std::size_t>(event)); }

bool is(std::string_view what) {
  const char* const wrong = std::getenv("CROCHET_FAKE_DRIVER");
  return wrong != nullptr && what == wrong;
}

}  // namespace

extern "C" {

const char* crochet_fake_calls() { return calls.c_str(); }
void crochet_fake_forget_calls() { calls.clear(); }

int cuInit(unsigned) { return 0; }
int cuDriverGetVersion(int* version) {
  *version = 13000;
  return 0;
}
int cuDeviceGetCount(int* count) {
  if (is("no_device")) return no_device;
  *count = 1;
  return 0;
}
int cuDeviceGet(int* device, int index) {
  *device = index;
  return 0;
}
int cuDeviceGetName(char* name, int size, int) {
  std::strncpy(name, "Fake GPU", static_cast<std::size_t>(size));
  return 0;
}
int cuDeviceGetPCIBusId(char* id, int size, int) {
  std::strncpy(id, "0000:3B:00.0", static_cast<std::size_t>(size));
  return 0;
}
int cuDeviceGetAttribute(int* value, int attribute, int) {
  *value = attribute == 75 ? (is("too_old") ? 6 : is("turing") ? 7 : 9) : attribute == 76 ? (is("turing") ? 5 : 0) : 4;
  return 0;
}
int cuDevicePrimaryCtxRetain(void** context, int) {
  *context = &launched;
  return 0;
}
int cuDevicePrimaryCtxRelease_v2(int) {
  calls += "release context\n";
  return 0;
}
int cuCtxSetCurrent(void*) { return 0; }
int cuMemGetInfo_v2(std::size_t* free, std::size_t* total) {
  *free = 1000;
  *total = largest;
  return 0;
}
int cuMemAlloc_v2(unsigned long long* memory, std::size_t bytes) {
  if (bytes > largest || (is("no_memory") && bytes > 64)) return out_of_memory;
  *memory = reinterpret_cast<unsigned long long>(std::malloc(bytes));
  return 0;
}
int cuMemFree_v2(unsigned long long memory) {
  std::free(reinterpret_cast<void*>(memory));
  return 0;
}
int cuMemHostAlloc(void** memory, std::size_t bytes, unsigned) {
  *memory = std::malloc(bytes);
  return 0;
}
int cuMemFreeHost(void* memory) {
  std::free(memory);
  return 0;
}
int cuMemcpyHtoDAsync_v2(unsigned long long to, const void* from, std::size_t bytes, void* stream) {
  note("upload", stream);
  std::memcpy(reinterpret_cast<void*>(to), from, bytes);
  return 0;
}
int cuMemcpyDtoHAsync_v2(void* to, unsigned long long from, std::size_t bytes, void* stream) {
  note("download", stream);
  std::memcpy(to, reinterpret_cast<const void*>(from), bytes);
  return 0;
}
int cuMemcpyDtoDAsync_v2(unsigned long long to, unsigned long long from, std::size_t bytes, void* stream) {
  note("copy", stream);
  std::memcpy(reinterpret_cast<void*>(to), reinterpret_cast<const void*>(from), bytes);
  return 0;
}
int cuMemsetD8Async(unsigned long long to, unsigned char value, std::size_t bytes, void*) {
  std::memset(reinterpret_cast<void*>(to), value, bytes);
  return 0;
}
int cuStreamCreate(void** stream, unsigned) {
  if (is("no_stream") && streams > 0) return out_of_memory;
  *stream = handle(++streams);
  return 0;
}
int cuStreamDestroy_v2(void*) { return 0; }
int cuStreamSynchronize(void* stream) {
  note("wait", stream);
  return launched && is("kernel_fails") ? illegal_address : 0;
}
int cuStreamWaitEvent(void* stream, void* event, unsigned) {
  note("behind " + event_text(event), stream);
  return 0;
}
int cuEventCreate(void** event, unsigned) {
  *event = handle(++events);
  return 0;
}
int cuEventDestroy_v2(void*) { return 0; }
int cuEventRecord(void* event, void* stream) {
  note("record " + event_text(event), stream);
  return 0;
}
int cuEventSynchronize(void* event) {
  calls += "wait for " + event_text(event) + "\n";
  return 0;
}
int cuEventElapsedTime(float* milliseconds, void*, void*) {
  if (is("no_times")) return not_ready;
  *milliseconds = 1.5F;
  return 0;
}
int cuModuleLoadData(void** module, const void*) {
  if (is("load_fails")) return invalid_image;
  *module = std::malloc(1);
  return 0;
}
int cuModuleUnload(void* module) {
  std::free(module);
  return 0;
}
int cuModuleGetFunction(void** function, void* module, const char* name) {
  *function = module;
  return std::string_view(name).starts_with("crochet_") ? 0 : 500;
}
int cuLaunchCooperativeKernel(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void* stream,
                              void**) {
  note("launch", stream);
  if (is("launch_fails")) return launch_failed;
  launched = true;
  return 0;
}
int cuLaunchKernel(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void* stream, void**,
                   void**) {
  note("launch alone", stream);
  return 0;
}
int cuGraphCreate(void** graph, unsigned) {
  *graph = handle(++graphs);
  return 0;
}
int cuGraphAddKernelNode_v2(void** node, void*, void* const* dependencies, std::size_t count, const void*) {
  *node = handle(++nodes);
  calls += "node " + std::to_string(nodes) + " behind";
  for (std::size_t k = 0; k < count; ++k) calls += " " + std::to_string(reinterpret_cast<std::size_t>(dependencies[k]));
  calls += "\n";
  return 0;
}
int cuGraphKernelNodeSetAttribute(void* node, int attribute, const int* value) {
  if (attribute == 2 && *value == 1) {
    calls += "node " + std::to_string(reinterpret_cast<std::size_t>(node)) + " is cooperative\n";
  }
  return 0;
}
int cuPointerGetAttribute(void*, int, unsigned long long) { return is("pinned") ? 0 : invalid_value; }
int cuGraphInstantiateWithFlags(void** instance, void* graph, unsigned long long) {
  *instance = graph;
  return 0;
}
int cuGraphLaunch(void* graph, void* stream) {
  note("launch graph " + std::to_string(reinterpret_cast<std::size_t>(graph)), stream);
  return 0;
}
int cuGraphDestroy(void*) { return 0; }
int cuGraphExecDestroy(void*) { return 0; }
int cuGetErrorName(int code, const char** name) {
  *name = code == no_device ? "CUDA_ERROR_NO_DEVICE" : code == illegal_address ? "CUDA_ERROR_ILLEGAL_ADDRESS" : "OTHER";
  return 0;
}
int cuGetErrorString(int, const char** text) {
  *text = "something is wrong";
  return 0;
}
}
