// SPDX-License-Identifier: Apache-2.0
// Activation functions per element.
#pragma once
#include <crochet/base/instruction_set.hpp>
#include <crochet/graph/ops/activations.hpp>
#include <crochet/kernels/elementwise/arithmetic.hpp>
#include <crochet/kernels/simd_exp.hpp>
#include <crochet/kernels/simd_log.hpp>

namespace crochet {

namespace kernel::CROCHET_ISA::detail {
// Propagates NaN.
struct Relu {
  template <class N>
  CROCHET_ALWAYS_INLINE static N apply(const N& a) {
    return simd::greater(N{}, a);
  }
};
struct ReluGradient {
  template <class N>
  CROCHET_ALWAYS_INLINE static N apply(const N& upstream, const N& result) {
    return (result > N{}) ? upstream : N{};
  }
};
}  // namespace kernel::CROCHET_ISA::detail

template <>
struct Elementwise<&op::relu> {
  template <class T, class V>
  CROCHET_ALWAYS_INLINE static V apply(const V& a) {
    return simd::map_any<kernel::detail::Relu>(a);
  }
};
template <>
struct Elementwise<&op::relu_gradient> {
  template <class T, class V>
  CROCHET_ALWAYS_INLINE static V apply(const V& a, const V& b) {
    return simd::map_any<kernel::detail::ReluGradient>(a, b);
  }
};
template <>
struct Elementwise<&op::tanh> {
  template <class T, class V>
  CROCHET_ALWAYS_INLINE static V apply(const V& a) {
    return simd::tanh(a);
  }
};
template <>
struct Elementwise<&op::sigmoid> {
  template <class T, class V>
  CROCHET_ALWAYS_INLINE static V apply(const V& a) {
    return simd::sigmoid(a);
  }
};
template <>
struct Elementwise<&op::softplus> {
  template <class T, class V>
  CROCHET_ALWAYS_INLINE static V apply(const V& a) {
    return simd::map_any<kernel::detail::Relu>(a) +
           simd::log1p(simd::exp(static_cast<V>(-simd::map_any<kernel::detail::Abs>(a))));
  }
};

}  // namespace crochet
