// SPDX-License-Identifier: Apache-2.0
// FunctorCheck: an Elementwise of a user's program must be device code. Programs (kernels/program.hpp) call it from
// functions for host and device, where nvcc only warns of a function for the host, not even that in system headers, and
// leaves the call out. A call from a function for the device is an error.
#pragma once
#include <crochet/executor/cuda/step_code.hpp>

#if defined(__CUDACC__)

namespace crochet::cuda {

namespace detail {

template <class Instruction>
struct FunctorCall {
  CROCHET_DEVICE_INLINE static void an_elementwise_needs_CROCHET_HOST_DEVICE() {}
};
template <class T, const Op* O, int A, class TypeA, int B, int C>
requires(O != &op::cast && O != &op::select) struct FunctorCall<kernel::Compute<T, O, A, TypeA, B, C>> {
  /// Its name is part of the error. Never runs.
  CROCHET_DEVICE_INLINE static void an_elementwise_needs_CROCHET_HOST_DEVICE() {
    if (false) {
      const simd::cell_t<TypeA> x{};
      if constexpr (B < 0) {
        (void)Elementwise<O>::template apply<TypeA>(x);
      } else if constexpr (C < 0) {
        (void)Elementwise<O>::template apply<TypeA>(x, x);
      } else {
        (void)Elementwise<O>::template apply<TypeA>(x, x, x);
      }
    }
  }
};

}  // namespace detail

/// Checks the functors of a program, or of all steps of a plan.
template <class Code>
struct FunctorCheck {
  CROCHET_DEVICE_INLINE static void check() {}
};
template <class... I>
struct FunctorCheck<kernel::Program<I...>> {
  CROCHET_DEVICE_INLINE static void check() {
    [[maybe_unused]] const bool done[] = {
        true, (detail::FunctorCall<I>::an_elementwise_needs_CROCHET_HOST_DEVICE(), true)...};
  }
};
template <class P, class R>
struct FunctorCheck<Loop<P, R>> : FunctorCheck<P> {};
template <class P, class R>
struct FunctorCheck<ReducingLoop<P, R>> : FunctorCheck<P> {};
template <class P, class R>
struct FunctorCheck<Scalars<P, R>> : FunctorCheck<P> {};
template <const Op* O, class Types, class P, class R>
struct FunctorCheck<FusedKernel<O, Types, P, R>> : FunctorCheck<P> {};
template <class... Code, bool... Barrier>
struct FunctorCheck<PlanSteps<PlanStep<Code, Barrier>...>> {
  CROCHET_DEVICE_INLINE static void check() {
    [[maybe_unused]] const bool done[] = {true, (FunctorCheck<Code>::check(), true)...};
  }
};

}  // namespace crochet::cuda

#endif
