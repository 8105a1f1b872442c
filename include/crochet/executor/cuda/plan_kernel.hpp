// SPDX-License-Identifier: Apache-2.0
// The kernels of a program that nvcc compiles: one for each plan, and one that gathers rows of data sets.
#pragma once
#include <cstdint>
#include <type_traits>

#include <crochet/executor/cuda/functor_check.hpp>
#include <crochet/kernels/cuda/device_block.hpp>
#include <crochet/kernels/cuda/gather_rows.hpp>
#include <crochet/kernels/cuda/table.hpp>

#if defined(__CUDACC__)

// The friend below is deliberately no template: NumberedPlan<N> and NamedPlan<N, Steps> declare the same function.
#pragma nv_diag_suppress 1301
#pragma GCC diagnostic ignored "-Wnon-template-friend"

namespace crochet::cuda {

/// Stands for a plan in the name of its kernel. nvcc writes the name of a kernel into the host's code, where names with
/// string template arguments, and of types that are local or private, do not compile. So the name has a number only,
/// and this function finds the steps of that number.
template <std::uint64_t Number>
struct NumberedPlan {
  friend constexpr auto steps_of(NumberedPlan);
};
/// Gives a number to the steps of a plan. Two kinds of steps with one number do not compile: `steps_of` is defined
/// twice.
template <std::uint64_t Number, class Steps>
struct NamedPlan {
  static constexpr std::uint64_t number = Number;
  friend constexpr auto steps_of(NumberedPlan<Number>) { return std::type_identity<Steps>{}; }
};

/// All runs of a launch. A grid of one block for each multiprocessor, launched cooperatively.
template <std::uint64_t Number>
__global__ void __launch_bounds__(DeviceBlock::threads, 1) plan_kernel(const __grid_constant__ Launch launch) {
  using Steps = typename decltype(steps_of(NumberedPlan<Number>{}))::type;
  FunctorCheck<Steps>::check();
  DeviceBlock block(launch.barrier);
  Steps::run(block, launch);
  block.finish();
}

/// Copies rows of data sets to feeds, without barriers of the grid.
template <class Block>
__global__ void __launch_bounds__(Block::threads) gather_kernel(const RowGather* all, int count) {
  gather_rows(Block(nullptr), all, count);
}

/// The kernel of a plan for a launch by the CUDA runtime. Code: PlanCode.
template <std::uint64_t Number, class Code>
const void* kernel_of() {
  constexpr std::uint64_t number = NamedPlan<Number, typename decltype(Code::steps())::type>::number;
  return reinterpret_cast<const void*>(&plan_kernel<number>);
}

}  // namespace crochet::cuda

#endif
