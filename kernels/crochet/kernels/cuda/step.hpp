// SPDX-License-Identifier: Apache-2.0
// The steps of a plan as types, and how a block runs them.
#pragma once
#include <crochet/kernels/cuda/epilogue.hpp>
#include <crochet/kernels/cuda/loop.hpp>
#include <crochet/kernels/cuda/reducing_loop.hpp>
#include <crochet/kernels/cuda/step_clock.hpp>

namespace crochet::cuda {

// The code of a step. Steps that differ in numbers only have the same type. P: the program, R: the memory of its
// accesses (kernel::Refs), Types: the element types of a kernel's result and operands.

/// An elementwise loop.
template <class P, class R>
struct Loop {
  template <class Block>
  CROCHET_DEVICE_INLINE static void run(Block& block, const Call& call) {
    loop<P, R>(block, call);
  }
};
/// A loop with reductions.
template <class P, class R>
struct ReducingLoop {
  template <class Block>
  CROCHET_DEVICE_INLINE static void run(Block& block, const Call& call) {
    reducing_loop<P, R>(block, call);
  }
};
/// A program on scalars.
template <class P, class R>
struct Scalars {
  template <class Block>
  CROCHET_DEVICE_INLINE static void run(Block& block, const Call& call) {
    once<P, R>(block, call);
  }
};
/// A kernel with an epilogue.
template <const Op* O, class Types, class P, class R>
struct FusedKernel {
  template <class Block>
  CROCHET_DEVICE_INLINE static void run(Block& block, const Call& call) {
    Kernel<O>::template run<Types>(block, call, Epilogue<typename Types::out, P, R>(call));
  }
};
/// A kernel that stores its result itself.
template <const Op* O, class Types>
struct StoringKernel {
  template <class Block>
  CROCHET_DEVICE_INLINE static void run(Block& block, const Call& call) {
    Kernel<O>::template run<Types>(block, call, NoEpilogue{});
  }
};

/// Runs step s of run t. Not inlined: steps with the same code share it, and compiling one large function takes longer
/// than compiling its parts.
template <class Code, class Block>
CROCHET_DEVICE_NOINLINE void run_code(Block& block, const Launch& launch, int t, int s) {
  Code::run(block,
            Call{launch.tables, launch.tables.steps[s], Memory{launch.bases + std::int64_t{t} * launch.base_count}});
}
/// Before step s, which the launch has: waits for all blocks if `barrier`, and notes when the step begins.
template <class Block>
CROCHET_DEVICE_NOINLINE void begin_step(Block& block, const Launch& launch, int s, bool barrier) {
  if (barrier && s > launch.first_step) block.grid_sync();
  note_time(block, launch, s);
}
/// Runs step s of run t, behind a barrier of all blocks if Barrier. Nothing if the launch leaves the step out.
template <class Code, bool Barrier, class Block>
CROCHET_DEVICE_INLINE void run_step(Block& block, const Launch& launch, int t, int s) {
  if (s < launch.first_step || s >= launch.end_step) return;
  begin_step(block, launch, s, Barrier);
  run_code<Code>(block, launch, t, s);
}

}  // namespace crochet::cuda
