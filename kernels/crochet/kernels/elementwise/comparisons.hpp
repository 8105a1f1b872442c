// SPDX-License-Identifier: Apache-2.0
// Comparisons and logic per element. Conversion and selection are separate instructions (kernels/program.hpp).
#pragma once
#include <crochet/graph/ops/comparisons.hpp>
#include <crochet/kernels/elementwise/functor.hpp>

namespace crochet {

template <>
struct Elementwise<&op::equal> {
  template <class T, class V>
  CROCHET_ALWAYS_INLINE static auto apply(const V& a, const V& b) {
    return simd::compare<simd::Equal>(a, b);
  }
};
template <>
struct Elementwise<&op::not_equal> {
  template <class T, class V>
  CROCHET_ALWAYS_INLINE static auto apply(const V& a, const V& b) {
    return simd::compare<simd::NotEqual>(a, b);
  }
};
template <>
struct Elementwise<&op::less> {
  template <class T, class V>
  CROCHET_ALWAYS_INLINE static auto apply(const V& a, const V& b) {
    return simd::compare<simd::Less>(a, b);
  }
};
template <>
struct Elementwise<&op::less_equal> {
  template <class T, class V>
  CROCHET_ALWAYS_INLINE static auto apply(const V& a, const V& b) {
    return simd::compare<simd::LessEqual>(a, b);
  }
};
template <>
struct Elementwise<&op::greater> {
  template <class T, class V>
  CROCHET_ALWAYS_INLINE static auto apply(const V& a, const V& b) {
    return simd::compare<simd::Less>(b, a);
  }
};
template <>
struct Elementwise<&op::greater_equal> {
  template <class T, class V>
  CROCHET_ALWAYS_INLINE static auto apply(const V& a, const V& b) {
    return simd::compare<simd::LessEqual>(b, a);
  }
};
template <>
struct Elementwise<&op::logical_and> {
  template <class T, class V>
  CROCHET_ALWAYS_INLINE static V apply(const V& a, const V& b) {
    return static_cast<V>(a & b);
  }
};
template <>
struct Elementwise<&op::logical_or> {
  template <class T, class V>
  CROCHET_ALWAYS_INLINE static V apply(const V& a, const V& b) {
    return static_cast<V>(a | b);
  }
};
template <>
struct Elementwise<&op::logical_xor> {
  template <class T, class V>
  CROCHET_ALWAYS_INLINE static V apply(const V& a, const V& b) {
    return static_cast<V>(a ^ b);
  }
};
template <>
struct Elementwise<&op::logical_not> {
  template <class T, class V>
  CROCHET_ALWAYS_INLINE static V apply(const V& a) {
    return static_cast<V>(a ^ 1);
  }
};

}  // namespace crochet
