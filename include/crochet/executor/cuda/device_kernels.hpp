// SPDX-License-Identifier: Apache-2.0
// DeviceKernels: the operations that a device runs, for the check of a plan.
#pragma once
#include <crochet/executor/plan/kernel_check.hpp>
#include <crochet/kernels/cuda/kernels.hpp>
#include <crochet/model.hpp>

namespace crochet::cuda {

/// Whether the operation is one of the library, whose code a GPU has.
template <const Op* O>
constexpr bool is_in_library() {
#define CROCHET_OPERATION(name) \
  if (O == &op::name) return true;
#include <crochet/kernels/cuda/text/operations.h>
#undef CROCHET_OPERATION
  return O == &op::batched_matmul<3> || O == &op::batched_matmul<4> || O == &op::batched_matmul<5> ||
         O == &op::batched_matmul<6>;
}

/// For cpu::KernelCheck. RunsOwnOperations: the device runs the operations of a user's program too. GpuDevice does not:
/// its code is compiled at run time, from the headers of the library.
template <bool RunsOwnOperations>
struct DeviceKernels {
  template <const Op* O>
  static constexpr bool known = RunsOwnOperations || is_in_library<O>();
  template <const Op* O>
  static constexpr bool kernel = known<O>&& requires {
    sizeof(Kernel<O>);
  };
  template <const Op* O>
  static constexpr bool functor = known<O>&& cpu::HasFunctor<O>;
  template <const Op* O>
  static constexpr bool reduction = known<O>&& cpu::HasReduction<O>;
};

}  // namespace crochet::cuda
