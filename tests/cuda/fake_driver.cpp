// SPDX-License-Identifier: Apache-2.0
// A libcuda.so.1 for tests of GpuDevice: memory of the host, launches that do nothing. The environment variable
// CROCHET_FAKE_DRIVER chooses what is wrong: no_device, too_old, turing, no_memory, no_stream, load_fails, cuda_11,
// cuda_12, launch_fails, kernel_fails, no_times, pinned. crochet_fake_calls() is a line for each call that concerns a
// stream, in order. crochet_fake_fail() makes one call fail, or all from one on; crochet_fake_alive() counts what was
// not released.
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <mutex>
#include <string>
#include <string_view>

namespace {

constexpr int invalid_value = 1, out_of_memory = 2, invalid_image = 200, no_device = 100, illegal_address = 700,
              launch_failed = 719, not_ready = 600;
constexpr std::size_t largest = std::size_t{1} << 30;
bool launched = false;
thread_local void* current = nullptr;  ///< context
std::string calls;
int streams = 0, events = 0, graphs = 0, nodes = 0;
std::atomic<int> made = 0;                         ///< calls since crochet_fake_fail()
int fails_from = 0, fails_to = 0, fails_with = 0;  ///< the numbers of the calls that fail, from 1
std::atomic<int> alive = 0;                        ///< contexts, streams, pieces of memory, ...

/// The code of this call.
int code() {
  const int number = ++made;
  return number >= fails_from && number < fails_to ? fails_with : 0;
}
/// Of a call that makes something; the program must release it.
int code_of_made() {
  const int of = code();
  if (of == 0) ++alive;
  return of;
}
/// Of a call that releases it, also if it reports an error of earlier work.
int code_of_released() {
  --alive;
  return code();
}

/// Streams and events are numbers, from 1.
void* handle(int number) { return reinterpret_cast<void*>(static_cast<std::size_t>(number)); }
void note(const std::string& call, const void* stream) {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
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
/// Makes the call number `from` from now on fail with this code, and those behind it if `all`. 0: none fails. The
/// thread has no context then.
void crochet_fake_fail(int from, int all, int with) {
  made = 0;
  current = nullptr;
  fails_from = from;
  fails_to = from == 0 ? 0 : all != 0 ? std::numeric_limits<int>::max() : from + 1;
  fails_with = with;
}
/// The calls since crochet_fake_fail().
int crochet_fake_made() { return made; }
int crochet_fake_alive() { return alive; }

int cuInit(unsigned) { return code(); }
int cuDriverGetVersion(int* version) {
  if (const int wrong = code(); wrong != 0) return wrong;
  *version = is("cuda_11") ? 11080 : is("cuda_12") ? 12040 : 13000;
  return 0;
}
int cuDeviceGetCount(int* count) {
  if (const int wrong = code(); wrong != 0) return wrong;
  if (is("no_device")) return no_device;
  *count = 1;
  return 0;
}
int cuDeviceGet(int* device, int index) {
  if (const int wrong = code(); wrong != 0) return wrong;
  *device = index;
  return 0;
}
int cuDeviceGetName(char* name, int size, int) {
  if (const int wrong = code(); wrong != 0) return wrong;
  std::strncpy(name, "Fake GPU", static_cast<std::size_t>(size));
  return 0;
}
int cuDeviceGetPCIBusId(char* id, int size, int) {
  if (const int wrong = code(); wrong != 0) return wrong;
  std::strncpy(id, "0000:3B:00.0", static_cast<std::size_t>(size));
  return 0;
}
int cuDeviceGetAttribute(int* value, int attribute, int) {
  if (const int wrong = code(); wrong != 0) return wrong;
  *value = attribute == 75 ? (is("too_old") ? 6 : is("turing") ? 7 : 9) : attribute == 76 ? (is("turing") ? 5 : 0) : 4;
  return 0;
}
int cuDevicePrimaryCtxRetain(void** context, int) {
  if (const int wrong = code_of_made(); wrong != 0) return wrong;
  *context = &launched;
  return 0;
}
int cuDevicePrimaryCtxRelease_v2(int) {
  calls += "release context\n";
  return code_of_released();
}
int cuCtxSetCurrent(void* context) {
  if (const int wrong = code(); wrong != 0) return wrong;
  current = context;
  return 0;
}
int cuCtxGetCurrent(void** context) {
  if (const int wrong = code(); wrong != 0) return wrong;
  *context = current;
  return 0;
}
int cuMemGetInfo_v2(std::size_t* free, std::size_t* total) {
  if (const int wrong = code(); wrong != 0) return wrong;
  *free = 1000;
  *total = largest;
  return 0;
}
int cuMemAlloc_v2(unsigned long long* memory, std::size_t bytes) {
  if (bytes > largest || (is("no_memory") && bytes > 64)) return out_of_memory;
  if (const int wrong = code_of_made(); wrong != 0) return wrong;
  *memory = reinterpret_cast<unsigned long long>(std::calloc(bytes, 1));
  return 0;
}
int cuMemFree_v2(unsigned long long memory) {
  std::free(reinterpret_cast<void*>(memory));
  return code_of_released();
}
int cuMemHostAlloc(void** memory, std::size_t bytes, unsigned) {
  if (const int wrong = code_of_made(); wrong != 0) return wrong;
  *memory = std::calloc(bytes, 1);
  return 0;
}
int cuMemFreeHost(void* memory) {
  std::free(memory);
  return code_of_released();
}
int cuMemcpyHtoDAsync_v2(unsigned long long to, const void* from, std::size_t bytes, void* stream) {
  if (const int wrong = code(); wrong != 0) return wrong;
  note("upload", stream);
  std::memcpy(reinterpret_cast<void*>(to), from, bytes);
  return 0;
}
int cuMemcpyDtoHAsync_v2(void* to, unsigned long long from, std::size_t bytes, void* stream) {
  if (const int wrong = code(); wrong != 0) return wrong;
  note("download", stream);
  std::memcpy(to, reinterpret_cast<const void*>(from), bytes);
  return 0;
}
int cuMemcpyDtoDAsync_v2(unsigned long long to, unsigned long long from, std::size_t bytes, void* stream) {
  if (const int wrong = code(); wrong != 0) return wrong;
  note("copy", stream);
  std::memcpy(reinterpret_cast<void*>(to), reinterpret_cast<const void*>(from), bytes);
  return 0;
}
int cuMemsetD8Async(unsigned long long to, unsigned char value, std::size_t bytes, void*) {
  if (const int wrong = code(); wrong != 0) return wrong;
  std::memset(reinterpret_cast<void*>(to), value, bytes);
  return 0;
}
int cuStreamCreate(void** stream, unsigned) {
  if (is("no_stream") && streams > 0) return out_of_memory;
  if (const int wrong = code_of_made(); wrong != 0) return wrong;
  *stream = handle(++streams);
  return 0;
}
int cuStreamDestroy_v2(void*) { return code_of_released(); }
int cuStreamSynchronize(void* stream) {
  if (const int wrong = code(); wrong != 0) return wrong;
  note("wait", stream);
  return launched && is("kernel_fails") ? illegal_address : 0;
}
int cuStreamWaitEvent(void* stream, void* event, unsigned) {
  if (const int wrong = code(); wrong != 0) return wrong;
  note("behind " + event_text(event), stream);
  return 0;
}
int cuEventCreate(void** event, unsigned) {
  if (const int wrong = code_of_made(); wrong != 0) return wrong;
  *event = handle(++events);
  return 0;
}
int cuEventDestroy_v2(void*) { return code_of_released(); }
int cuEventRecord(void* event, void* stream) {
  if (const int wrong = code(); wrong != 0) return wrong;
  note("record " + event_text(event), stream);
  return 0;
}
int cuEventSynchronize(void* event) {
  if (const int wrong = code(); wrong != 0) return wrong;
  calls += "wait for " + event_text(event) + "\n";
  return 0;
}
int cuEventElapsedTime(float* milliseconds, void*, void*) {
  if (const int wrong = code(); wrong != 0) return wrong;
  if (is("no_times")) return not_ready;
  *milliseconds = 1.5F;
  return 0;
}
int cuModuleLoadData(void** module, const void*) {
  if (is("load_fails") || is("cuda_11") || is("cuda_12")) return invalid_image;
  if (const int wrong = code_of_made(); wrong != 0) return wrong;
  *module = std::malloc(1);
  return 0;
}
int cuModuleUnload(void* module) {
  std::free(module);
  return code_of_released();
}
int cuModuleGetFunction(void** function, void* module, const char* name) {
  if (const int wrong = code(); wrong != 0) return wrong;
  *function = module;
  return std::string_view(name).starts_with("crochet_") ? 0 : 500;
}
int cuLaunchCooperativeKernel(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void* stream,
                              void**) {
  if (const int wrong = code(); wrong != 0) return wrong;
  note("launch", stream);
  if (is("launch_fails")) return launch_failed;
  launched = true;
  return 0;
}
int cuLaunchKernel(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void* stream, void**,
                   void**) {
  if (const int wrong = code(); wrong != 0) return wrong;
  note("launch alone", stream);
  return 0;
}
int cuGraphCreate(void** graph, unsigned) {
  if (const int wrong = code_of_made(); wrong != 0) return wrong;
  *graph = handle(++graphs);
  return 0;
}
int cuGraphAddKernelNode_v2(void** node, void*, void* const* dependencies, std::size_t count, const void*) {
  if (const int wrong = code(); wrong != 0) return wrong;
  *node = handle(++nodes);
  calls += "node " + std::to_string(nodes) + " behind";
  for (std::size_t k = 0; k < count; ++k) calls += " " + std::to_string(reinterpret_cast<std::size_t>(dependencies[k]));
  calls += "\n";
  return 0;
}
int cuGraphKernelNodeSetAttribute(void* node, int attribute, const int* value) {
  if (const int wrong = code(); wrong != 0) return wrong;
  if (attribute == 2 && *value == 1) {
    calls += "node " + std::to_string(reinterpret_cast<std::size_t>(node)) + " is cooperative\n";
  }
  return 0;
}
// As of a real driver: an error for memory that it does not know, which memcheck of compute-sanitizer counts.
int cuPointerGetAttribute(void*, int, unsigned long long) {
  if (is("pinned")) return 0;
  calls += "refused: cuPointerGetAttribute\n";
  return invalid_value;
}
int cuPointerGetAttributes(unsigned count, const int* attributes, void** values, unsigned long long) {
  if (const int wrong = code(); wrong != 0) return wrong;
  constexpr int memory_type = 2;
  for (unsigned k = 0; k < count; ++k) {
    if (attributes[k] != memory_type) return invalid_value;
    *static_cast<unsigned*>(values[k]) = is("pinned") ? 1U : 0U;
  }
  return 0;
}
int cuGraphInstantiateWithFlags(void** instance, void* graph, unsigned long long) {
  if (const int wrong = code_of_made(); wrong != 0) return wrong;
  *instance = graph;
  return 0;
}
int cuGraphLaunch(void* graph, void* stream) {
  if (const int wrong = code(); wrong != 0) return wrong;
  note("launch graph " + std::to_string(reinterpret_cast<std::size_t>(graph)), stream);
  return 0;
}
int cuGraphDestroy(void*) { return code_of_released(); }
int cuGraphExecDestroy(void*) { return code_of_released(); }
int cuGetErrorName(int code, const char** name) {
  *name = code == no_device ? "CUDA_ERROR_NO_DEVICE" : code == illegal_address ? "CUDA_ERROR_ILLEGAL_ADDRESS" : "OTHER";
  return 0;
}
int cuGetErrorString(int, const char** text) {
  *text = "something is wrong";
  return 0;
}
}
