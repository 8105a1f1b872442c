// SPDX-License-Identifier: Apache-2.0
// The elementwise losses.
#pragma once
#include <crochet/graph/ops/loss.hpp>
#include <crochet/kernels/elementwise/functor.hpp>
#include <crochet/kernels/simd_exp.hpp>
#include <crochet/kernels/simd_log.hpp>

namespace crochet {

template <>
struct Elementwise<&op::sigmoid_cross_entropy> {
  template <class T, class V>
  CROCHET_ALWAYS_INLINE static V apply(const V& z, const V& p) {
    const V e = simd::exp(static_cast<V>((z < V{}) ? z : -z));
    return static_cast<V>(((z < V{}) ? V{} : z) - z * p + simd::log1p(e));
  }
};

}  // namespace crochet
