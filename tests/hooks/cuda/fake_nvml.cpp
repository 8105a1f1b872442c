// SPDX-License-Identifier: Apache-2.0
// A libnvidia-ml.so.1 for tests: two GPUs whose used memory grows with each reading. The environment variable
// CROCHET_FAKE_NVML selects what is wrong: no_driver, no_power, lost.
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace {

constexpr int not_supported = 3, not_found = 6, driver_not_loaded = 9, gpu_is_lost = 15;

struct Gpu {
  const char* bus;
  unsigned first;
  unsigned readings = 0;
};
Gpu gpus[] = {{"0000:1A:00.0", 1}, {"0000:3B:00.0", 11}};

bool is(std::string_view what) {
  const char* const wrong = std::getenv("CROCHET_FAKE_NVML");
  return wrong != nullptr && what == wrong;
}
int found(Gpu& gpu, void** device) {
  gpu.readings = 0;
  *device = &gpu;
  return 0;
}

}  // namespace

extern "C" {
// NOLINTBEGIN(readability-identifier-naming): NVIDIA's names

int nvmlInit_v2() { return is("no_driver") ? driver_not_loaded : 0; }
const char* nvmlErrorString(int code) {
  return code == driver_not_loaded ? "Driver Not Loaded" : code == gpu_is_lost ? "GPU is lost" : "Not Found";
}
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** device) {
  return index > 1 ? not_found : found(gpus[index], device);
}
int nvmlDeviceGetHandleByPciBusId_v2(const char* bus, void** device) {
  for (Gpu& gpu : gpus) {
    if (std::strcmp(bus, gpu.bus) == 0) return found(gpu, device);
  }
  return not_found;
}
int nvmlDeviceGetMemoryInfo(void* device, unsigned long long* memory) {  // total, free, used
  if (is("lost")) return gpu_is_lost;
  Gpu& gpu = *static_cast<Gpu*>(device);
  const unsigned long long used = gpu.first + gpu.readings++;
  memory[0] = 80ULL << 30;
  memory[1] = (80 - used) << 30;
  memory[2] = used << 30;
  return 0;
}
int nvmlDeviceGetUtilizationRates(void*, unsigned* percent) {  // GPU, memory
  percent[0] = 98;
  percent[1] = 41;
  return 0;
}
int nvmlDeviceGetTemperature(void*, int sensor, unsigned* celsius) {
  *celsius = 65;
  return sensor == 0 ? 0 : not_supported;
}
int nvmlDeviceGetPowerUsage(void*, unsigned* milliwatts) {
  *milliwatts = 412400;
  return is("no_power") ? not_supported : 0;
}
// NOLINTEND(readability-identifier-naming)
}
