// SPDX-License-Identifier: Apache-2.0
// EigenCpu: Cpu with matrix products and convolutions by Eigen.
#pragma once

#include <crochet/executor/cpu/needs_eigen.hpp>

#include <crochet/executor/cpu.hpp>
#include <crochet/kernels/cpu/eigen.hpp>

namespace crochet {

/// Like Cpu, with Eigen's products. Eigen may allocate during a step (its own packing buffers, above 128 KiB).
using EigenCpu = BasicCpu<kernel::EigenProducts>;

}  // namespace crochet
