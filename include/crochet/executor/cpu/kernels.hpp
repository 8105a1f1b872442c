// SPDX-License-Identifier: Apache-2.0
// Every kernel of the CPU executor: an operation without one is a compile error.
#pragma once
#include <crochet/base/instruction_set.hpp>
#include <crochet/executor/plan/kernel_check.hpp>
#include <crochet/kernels/control.hpp>
#include <crochet/kernels/cpu/argmax.hpp>
#include <crochet/kernels/cpu/attention.hpp>
#include <crochet/kernels/cpu/batched_matmul.hpp>
#include <crochet/kernels/cpu/broadcast.hpp>
#include <crochet/kernels/cpu/conv.hpp>
#include <crochet/kernels/cpu/cumulative_sum.hpp>
#include <crochet/kernels/cpu/depthwise.hpp>
#include <crochet/kernels/cpu/gather.hpp>
#include <crochet/kernels/cpu/group_norm.hpp>
#include <crochet/kernels/cpu/iota.hpp>
#include <crochet/kernels/cpu/loss.hpp>
#include <crochet/kernels/cpu/matmul.hpp>
#include <crochet/kernels/cpu/normalization.hpp>
#include <crochet/kernels/cpu/over_ranks.hpp>
#include <crochet/kernels/cpu/parts_of_ranks.hpp>
#include <crochet/kernels/cpu/pool.hpp>
#include <crochet/kernels/cpu/random.hpp>
#include <crochet/kernels/cpu/reduce.hpp>
#include <crochet/kernels/cpu/slice.hpp>
#include <crochet/kernels/cpu/top_k.hpp>
#include <crochet/kernels/cpu/transpose.hpp>

namespace crochet::cpu::CROCHET_ISA {

/// For KernelCheck.
struct CpuKernels {
  template <const Op* O>
  static constexpr bool kernel = requires {
    sizeof(Kernel<O>);
  };
  template <const Op* O>
  static constexpr bool functor = HasFunctor<O>;
  template <const Op* O>
  static constexpr bool reduction = HasReduction<O>;
};
/// Those of a product policy with the constant `rounds_to_int8` = true.
struct CpuInferenceKernels : CpuKernels {
  static constexpr bool for_inference = true;
};
template <class Backend>
struct KernelsFor {
  using type = CpuKernels;
};
template <class Backend>
requires(Backend::rounds_to_int8) struct KernelsFor<Backend> {
  using type = CpuInferenceKernels;
};

}  // namespace crochet::cpu::CROCHET_ISA
