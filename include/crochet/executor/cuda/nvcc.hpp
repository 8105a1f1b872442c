// SPDX-License-Identifier: Apache-2.0
// NvccCuda: Cuda with kernels that nvcc compiles with the program, for models with operations of your own.
#pragma once
#include <crochet/executor/cuda.hpp>
#include <crochet/executor/cuda/nvcc_device.hpp>

namespace crochet {

/// Like Cuda, in a .cu file. No compiler is needed at run time, and the model may contain operations of your own: those
/// with an Elementwise, a kernel::Reduction or a cuda::Kernel that is device code.
using NvccCuda = BasicCuda<cuda::NvccDevice>;

}  // namespace crochet
