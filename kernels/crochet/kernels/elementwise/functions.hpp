// SPDX-License-Identifier: Apache-2.0
// Functions per element.
#pragma once
#include <crochet/graph/ops/functions.hpp>
#include <crochet/kernels/elementwise/functor.hpp>
#include <crochet/kernels/simd_erf.hpp>
#include <crochet/kernels/simd_exp.hpp>
#include <crochet/kernels/simd_log.hpp>
#include <crochet/kernels/simd_trigonometry.hpp>

namespace crochet {

template <>
struct Elementwise<&op::exp> {
  template <class T, class V>
  CROCHET_ALWAYS_INLINE static V apply(const V& a) {
    return simd::exp(a);
  }
};
template <>
struct Elementwise<&op::expm1> {
  template <class T, class V>
  CROCHET_ALWAYS_INLINE static V apply(const V& a) {
    return simd::expm1(a);
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
struct Elementwise<&op::log1p> {
  template <class T, class V>
  CROCHET_ALWAYS_INLINE static V apply(const V& a) {
    return simd::log1p(a);
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
struct Elementwise<&op::sin> {
  template <class T, class V>
  CROCHET_ALWAYS_INLINE static V apply(const V& a) {
    return simd::sin(a);
  }
};
template <>
struct Elementwise<&op::cos> {
  template <class T, class V>
  CROCHET_ALWAYS_INLINE static V apply(const V& a) {
    return simd::cos(a);
  }
};
template <>
struct Elementwise<&op::erf> {
  template <class T, class V>
  CROCHET_ALWAYS_INLINE static V apply(const V& a) {
    return simd::erf(a);
  }
};
template <>
struct Elementwise<&op::erfc> {
  template <class T, class V>
  CROCHET_ALWAYS_INLINE static V apply(const V& a) {
    return simd::erfc(a);
  }
};
template <>
struct Elementwise<&op::rsqrt> {
  template <class T, class V>
  CROCHET_ALWAYS_INLINE static V apply(const V& a) {
    return T(1) / simd::sqrt(a);
  }
};
template <>
struct Elementwise<&op::asin> {
  template <class T, class V>
  CROCHET_ALWAYS_INLINE static V apply(const V& a) {
    return simd::lane_by_lane([](T x) { return std::asin(x); }, a);
  }
};
template <>
struct Elementwise<&op::acos> {
  template <class T, class V>
  CROCHET_ALWAYS_INLINE static V apply(const V& a) {
    return simd::lane_by_lane([](T x) { return std::acos(x); }, a);
  }
};
template <>
struct Elementwise<&op::atan> {
  template <class T, class V>
  CROCHET_ALWAYS_INLINE static V apply(const V& a) {
    return simd::lane_by_lane([](T x) { return std::atan(x); }, a);
  }
};
template <>
struct Elementwise<&op::asinh> {
  template <class T, class V>
  CROCHET_ALWAYS_INLINE static V apply(const V& a) {
    return simd::lane_by_lane([](T x) { return std::asinh(x); }, a);
  }
};
template <>
struct Elementwise<&op::acosh> {
  template <class T, class V>
  CROCHET_ALWAYS_INLINE static V apply(const V& a) {
    return simd::lane_by_lane([](T x) { return std::acosh(x); }, a);
  }
};
template <>
struct Elementwise<&op::atanh> {
  template <class T, class V>
  CROCHET_ALWAYS_INLINE static V apply(const V& a) {
    return simd::lane_by_lane([](T x) { return std::atanh(x); }, a);
  }
};
template <>
struct Elementwise<&op::pow> {
  template <class T, class V>
  CROCHET_ALWAYS_INLINE static V apply(const V& a, const V& b) {
    return simd::lane_by_lane([](T x, T y) { return std::pow(x, y); }, a, b);
  }
};
template <>
struct Elementwise<&op::atan2> {
  template <class T, class V>
  CROCHET_ALWAYS_INLINE static V apply(const V& a, const V& b) {
    return simd::lane_by_lane([](T x, T y) { return std::atan2(x, y); }, a, b);
  }
};

}  // namespace crochet
