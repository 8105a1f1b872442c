// SPDX-License-Identifier: Apache-2.0
// NVRTC, NVIDIA's compiler as a library. It needs no GPU.
#pragma once
#include <string>
#include <string_view>

namespace crochet::cuda {

/// The result of a compilation.
struct Cubin {
  std::string code;
  std::string log;  ///< what the compiler said: registers, stack and spills of each function, if they were requested
};

/// How a text is compiled.
struct CompileOptions {
  int architecture = 90;   ///< 10 times the compute capability: 90 is sm_90
  bool resources = false;  ///< the log has registers, stack and spills
};

/// Whether NVRTC 12.4 or later is found on this machine: in a folder of LD_LIBRARY_PATH (the Python package
/// nvidia-cuda-nvrtc), where the system finds libraries, or in /usr/local/cuda. The first one whose
/// major version is not above the driver's is used, else the first one.
bool has_nvrtc();
/// The version, as "13.0". Throws DeviceError without NVRTC.
std::string nvrtc_version();

/// Compiles CUDA C++ that may include the headers of kernels/.
/// - Throws DeviceError without NVRTC, if it makes no code for this architecture, and with the compiler's messages if
/// the text does not compile.
/// - Thread: any. Cost: a second for a plan of 14 steps, 3.7 to 6 for one of 42 (docs/architecture.md).
Cubin compile_text(std::string_view text, const CompileOptions& options = {});

}  // namespace crochet::cuda
