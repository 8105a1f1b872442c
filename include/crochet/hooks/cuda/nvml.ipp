// SPDX-License-Identifier: Apache-2.0
// The functions of NVML that are used, as in nvml.h, without that header.
#pragma once
#include <cstdint>
#include <string>

#include <crochet/base/config.hpp>
#include <crochet/base/exceptions.hpp>
#include <crochet/executor/cuda/shared_library.ipp>
#include <crochet/hooks/cuda/nvml.hpp>

namespace crochet::cuda::detail {

struct NvmlMemory {
  unsigned long long total = 0, free = 0, used = 0;  // bytes
};
struct NvmlUtilization {
  unsigned gpu = 0, memory = 0;  // percent
};

/// Initialised in the constructor, and until the program ends.
struct NvmlFunctions {
  using Result = int;
  using Device = void*;

  const SharedLibrary library{"libnvidia-ml.so.1", "libnvidia-ml.so"};
  Result (*init)() = nullptr;
  const char* (*error_text)(Result) = nullptr;
  Result (*by_index)(unsigned, Device*) = nullptr;
  Result (*by_bus)(const char*, Device*) = nullptr;
  Result (*memory)(Device, NvmlMemory*) = nullptr;
  Result (*utilization)(Device, NvmlUtilization*) = nullptr;
  Result (*temperature)(Device, int, unsigned*) = nullptr;  // sensor 0: the chip
  Result (*power)(Device, unsigned*) = nullptr;             // milliwatts
  std::string missing{};                                    ///< why there is no NVML; empty: there is

  NvmlFunctions() {
    const bool complete =
        library.find("nvmlInit_v2", init) && library.find("nvmlErrorString", error_text) &&
        library.find("nvmlDeviceGetHandleByIndex_v2", by_index) &&
        library.find("nvmlDeviceGetHandleByPciBusId_v2", by_bus) && library.find("nvmlDeviceGetMemoryInfo", memory) &&
        library.find("nvmlDeviceGetUtilizationRates", utilization) &&
        library.find("nvmlDeviceGetTemperature", temperature) && library.find("nvmlDeviceGetPowerUsage", power);
    if (!complete) {
      missing = library ? "libnvidia-ml.so.1 lacks a function" : library.reason();
    } else if (const Result code = init(); code != 0) {
      missing = error_text(code);
    }
  }
};

CROCHET_INLINE const NvmlFunctions& nvml() {
  static const NvmlFunctions functions;
  if (functions.missing.empty()) return functions;
  throw DeviceError("crochet: this machine has no NVML (" + functions.missing +
                    "). It is part of NVIDIA's driver: install the driver of the GPU");
}
CROCHET_INLINE void check_nvml(int code, const std::string& what) {
  if (code != 0) throw DeviceError("crochet: cannot " + what + ": " + nvml().error_text(code));
}

}  // namespace crochet::cuda::detail

namespace crochet::cuda {

CROCHET_INLINE NvmlDevice::NvmlDevice(int index) {
  const auto number = static_cast<unsigned>(index);
  detail::check_nvml(detail::nvml().by_index(number, &handle_), "find the GPU number " + std::to_string(index));
}
CROCHET_INLINE NvmlDevice::NvmlDevice(const std::string& pci_bus_id) {
  detail::check_nvml(detail::nvml().by_bus(pci_bus_id.c_str(), &handle_), "find the GPU " + pci_bus_id);
}

CROCHET_INLINE GpuUse NvmlDevice::read() const {
  const auto& nvml = detail::nvml();
  detail::NvmlMemory memory;
  detail::check_nvml(nvml.memory(handle_, &memory), "read the memory of a GPU");
  GpuUse use;
  use.memory_used = static_cast<std::int64_t>(memory.used);
  use.memory_free = static_cast<std::int64_t>(memory.free);
  use.memory_total = static_cast<std::int64_t>(memory.total);
  detail::NvmlUtilization busy;
  if (nvml.utilization(handle_, &busy) == 0) {
    use.busy = busy.gpu / 100.0;
    use.memory_busy = busy.memory / 100.0;
  }
  unsigned value = 0;
  if (nvml.temperature(handle_, 0, &value) == 0) use.celsius = value;
  if (nvml.power(handle_, &value) == 0) use.watts = value / 1000.0;
  return use;
}

}  // namespace crochet::cuda
