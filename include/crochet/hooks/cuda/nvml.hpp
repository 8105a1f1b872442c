// SPDX-License-Identifier: Apache-2.0
// A GPU's figures by NVIDIA's management library (NVML), which is part of the driver and is loaded when it is first
// used.
#pragma once

#include <string>

#include <crochet/hooks/cuda/gpu_use.hpp>

namespace crochet::cuda {

/// A GPU of the machine. Copies share it. Safe to use from several threads.
class NvmlDevice {
 public:
  /// By NVML's number. It counts all GPUs of the machine, whatever CUDA_VISIBLE_DEVICES is. Throws DeviceError if the
  /// machine has no NVML, or no such GPU.
  explicit NvmlDevice(int index);
  /// By the address on the PCI bus, for example "0000:3B:00.0".
  explicit NvmlDevice(const std::string& pci_bus_id);

  /// Throws DeviceError if the GPU does not report its memory, for example because it was lost. Four calls of NVML.
  [[nodiscard]] GpuUse read() const;

 private:
  void* handle_ = nullptr;
};

}  // namespace crochet::cuda

#ifdef CROCHET_HEADER_ONLY
#include <crochet/hooks/cuda/nvml.ipp>
#endif
