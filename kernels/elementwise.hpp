// SPDX-License-Identifier: Apache-2.0
// What each elementwise operation computes per element. `Elementwise<&op>` has one function, for vectors and scalars
// alike: T is the operands' element type, V a register of it (a vector, or one element; bools are bytes 0 or 1).
// A user's operation specialises it in the user's own code.
#pragma once
#include <crochet/graph/ops/elementwise.hpp>
#include <crochet/kernels/simd.hpp>

namespace crochet {

template <const Op* O>
struct Elementwise;  // no functor for this operation: specialise crochet::Elementwise<&your_op>

template <>
struct Elementwise<&op::add> {
  template <class T, class V>
  CROCHET_ALWAYS_INLINE static V apply(const V& a, const V& b) {
    return static_cast<V>(a + b);
  }
};
template <>
struct Elementwise<&op::sub> {
  template <class T, class V>
  CROCHET_ALWAYS_INLINE static V apply(const V& a, const V& b) {
    return static_cast<V>(a - b);
  }
};
template <>
struct Elementwise<&op::mul> {
  template <class T, class V>
  CROCHET_ALWAYS_INLINE static V apply(const V& a, const V& b) {
    return static_cast<V>(a * b);
  }
};
template <>
struct Elementwise<&op::div> {
  template <class T, class V>
  CROCHET_ALWAYS_INLINE static V apply(const V& a, const V& b) {
    return static_cast<V>(a / b);
  }
};
// A NaN in either operand comes out: a run must not look healthy because a maximum dropped it.
template <>
struct Elementwise<&op::maximum> {
  template <class T, class V>
  CROCHET_ALWAYS_INLINE static V apply(const V& a, const V& b) {
    return (a > b) ? a : ((a == a) ? b : a);
  }
};
template <>
struct Elementwise<&op::minimum> {
  template <class T, class V>
  CROCHET_ALWAYS_INLINE static V apply(const V& a, const V& b) {
    return (a < b) ? a : ((a == a) ? b : a);
  }
};
template <>
struct Elementwise<&op::equal> {
  template <class T, class V>
  CROCHET_ALWAYS_INLINE static auto apply(const V& a, const V& b) {
    return simd::truth(a == b);
  }
};
template <>
struct Elementwise<&op::not_equal> {
  template <class T, class V>
  CROCHET_ALWAYS_INLINE static auto apply(const V& a, const V& b) {
    return simd::truth(a != b);
  }
};
template <>
struct Elementwise<&op::less> {
  template <class T, class V>
  CROCHET_ALWAYS_INLINE static auto apply(const V& a, const V& b) {
    return simd::truth(a < b);
  }
};
template <>
struct Elementwise<&op::greater> {
  template <class T, class V>
  CROCHET_ALWAYS_INLINE static auto apply(const V& a, const V& b) {
    return simd::truth(a > b);
  }
};
template <>
struct Elementwise<&op::neg> {
  template <class T, class V>
  CROCHET_ALWAYS_INLINE static V apply(const V& a) {
    return static_cast<V>(-a);
  }
};
template <>
struct Elementwise<&op::square> {
  template <class T, class V>
  CROCHET_ALWAYS_INLINE static V apply(const V& a) {
    return static_cast<V>(a * a);
  }
};
template <>
struct Elementwise<&op::abs> {
  template <class T, class V>
  CROCHET_ALWAYS_INLINE static V apply(const V& a) {
    return static_cast<V>((a < V{}) ? -a : a);
  }
};
template <>
struct Elementwise<&op::relu> {
  template <class T, class V>
  CROCHET_ALWAYS_INLINE static V apply(const V& a) {
    return (a < V{}) ? V{} : a;
  }
};
template <>
struct Elementwise<&op::exp> {
  template <class T, class V>
  CROCHET_ALWAYS_INLINE static V apply(const V& a) {
    return simd::exp(a);
  }
};
template <>
struct Elementwise<&op::log> {
  template <class T, class V>
  CROCHET_ALWAYS_INLINE static V apply(const V& a) {
    return simd::log(a);
  }
};
template <>
struct Elementwise<&op::sqrt> {
  template <class T, class V>
  CROCHET_ALWAYS_INLINE static V apply(const V& a) {
    return simd::sqrt(a);
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
    return T(1) / (T(1) + simd::exp(-a));
  }
};

}  // namespace crochet
