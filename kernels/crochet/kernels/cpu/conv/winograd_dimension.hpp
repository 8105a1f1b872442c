// SPDX-License-Identifier: Apache-2.0
// One dimension of the transforms of Winograd's convolutions F(2x2, 3x3) and F(4x4, 3x3), and of their transposes.
// Source: Lavin and Gray, Fast Algorithms for Convolutional Neural Networks, CVPR 2016, sections 4.1 and 4.2.
#pragma once
#include <crochet/base/config.hpp>
#include <crochet/base/instruction_set.hpp>

namespace crochet::kernel::CROCHET_ISA::winograd {

/// One dimension of the transforms for `Side` results.
template <int Side>
struct Dimension;

template <>
struct Dimension<2> {
  /// B^T d.
  template <class V>
  CROCHET_ALWAYS_INLINE static void pixels(const V* d, V* to) {
    to[0] = d[0] - d[2];
    to[1] = d[1] + d[2];
    to[2] = d[2] - d[1];
    to[3] = d[1] - d[3];
  }
  /// G g.
  template <class T, class V>
  CROCHET_ALWAYS_INLINE static void window(const V* g, V* to) {
    const V outer = (g[0] + g[2]) * T(0.5), inner = g[1] * T(0.5);
    to[0] = g[0];
    to[1] = outer + inner;
    to[2] = outer - inner;
    to[3] = g[2];
  }
  /// A^T m.
  template <class T, class V>
  CROCHET_ALWAYS_INLINE static void sums(const V* m, V* to) {
    to[0] = m[0] + m[1] + m[2];
    to[1] = m[1] - m[2] - m[3];
  }
  /// A u, for the gradient of sums.
  template <class T, class V>
  CROCHET_ALWAYS_INLINE static void upstream(const V* u, V* to) {
    to[0] = u[0];
    to[1] = u[0] + u[1];
    to[2] = u[0] - u[1];
    to[3] = -u[1];
  }
  /// G^T m, for the gradient of a window.
  template <class T, class V>
  CROCHET_ALWAYS_INLINE static void gradient(const V* m, V* to) {
    const V outer = (m[1] + m[2]) * T(0.5);
    to[0] = m[0] + outer;
    to[1] = (m[1] - m[2]) * T(0.5);
    to[2] = outer + m[3];
  }
};

template <>
struct Dimension<4> {
  template <class V>
  CROCHET_ALWAYS_INLINE static void pixels(const V* d, V* to) {
    const V d1 = d[1], d2 = d[2], d3 = d[3], d4 = d[4];
    const V a = d4 - 4 * d2, b = d3 - 4 * d1, c = d4 - d2, e = 2 * (d3 - d1);
    to[0] = 4 * d[0] - 5 * d2 + d4;
    to[1] = a + b;
    to[2] = a - b;
    to[3] = c + e;
    to[4] = c - e;
    to[5] = 4 * d1 - 5 * d3 + d[5];
  }
  template <class T, class V>
  CROCHET_ALWAYS_INLINE static void window(const V* g, V* to) {
    const V g0 = g[0], g1 = g[1], g2 = g[2];
    const V outer = (g0 + g2) * T(-1.0 / 6), inner = g1 * T(1.0 / 6);
    const V far = g0 * T(1.0 / 24) + g2 * T(1.0 / 6), near = g1 * T(1.0 / 12);
    to[0] = g0 * T(0.25);
    to[1] = outer - inner;
    to[2] = outer + inner;
    to[3] = far + near;
    to[4] = far - near;
    to[5] = g2;
  }
  template <class T, class V>
  CROCHET_ALWAYS_INLINE static void sums(const V* m, V* to) {
    const V m1 = m[1], m2 = m[2], m3 = m[3], m4 = m[4];
    const V p = m1 + m2, q = m1 - m2, r = m3 + m4, s = m3 - m4;
    to[0] = m[0] + p + r;
    to[1] = q + s * T(2);
    to[2] = p + r * T(4);
    to[3] = q + s * T(8) + m[5];
  }
  template <class T, class V>
  CROCHET_ALWAYS_INLINE static void upstream(const V* u, V* to) {
    const V u1 = u[1], u2 = u[2], u3 = u[3];
    const V even = u[0] + u2, odd = u1 + u3, far_even = u[0] + u2 * T(4), far_odd = u1 * T(2) + u3 * T(8);
    to[0] = u[0];
    to[1] = even + odd;
    to[2] = even - odd;
    to[3] = far_even + far_odd;
    to[4] = far_even - far_odd;
    to[5] = u3;
  }
  template <class T, class V>
  CROCHET_ALWAYS_INLINE static void gradient(const V* m, V* to) {
    const V m1 = m[1], m2 = m[2], m3 = m[3], m4 = m[4];
    const V near = (m1 + m2) * T(1.0 / 6), far = m3 + m4;
    to[0] = m[0] * T(0.25) - near + far * T(1.0 / 24);
    to[1] = (m2 - m1) * T(1.0 / 6) + (m3 - m4) * T(1.0 / 12);
    to[2] = far * T(1.0 / 6) - near + m[5];
  }
};

}  // namespace crochet::kernel::CROCHET_ISA::winograd
