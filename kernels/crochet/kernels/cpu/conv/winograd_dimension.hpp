// SPDX-License-Identifier: Apache-2.0
// One dimension of the transforms of Winograd's convolutions F(2x2, 3x3) and F(4x4, 3x3), and of their transposes.
// Source: Lavin and Gray, Fast Algorithms for Convolutional Neural Networks, CVPR 2016, sections 4.1 and 4.2.
#pragma once
#include <crochet/base/config.hpp>

namespace crochet::kernel::winograd {

/// One dimension of the transforms for `Side` results. Inputs and outputs are `step` elements apart.
template <int Side>
struct Dimension;

template <>
struct Dimension<2> {
  /// B^T d.
  template <class V>
  CROCHET_ALWAYS_INLINE static void pixels(const V* d, V* to, int step) {
    to[0] = d[0] - d[2 * step];
    to[step] = d[step] + d[2 * step];
    to[2 * step] = d[2 * step] - d[step];
    to[3 * step] = d[step] - d[3 * step];
  }
  /// G g.
  template <class T, class V>
  CROCHET_ALWAYS_INLINE static void window(const V* g, V* to, int step) {
    const V outer = (g[0] + g[2 * step]) * T(0.5), inner = g[step] * T(0.5);
    to[0] = g[0];
    to[step] = outer + inner;
    to[2 * step] = outer - inner;
    to[3 * step] = g[2 * step];
  }
  /// A^T m.
  template <class T, class V>
  CROCHET_ALWAYS_INLINE static void sums(const V* m, V* to, int step) {
    to[0] = m[0] + m[step] + m[2 * step];
    to[step] = m[step] - m[2 * step] - m[3 * step];
  }
  /// A u, for the gradient of sums.
  template <class T, class V>
  CROCHET_ALWAYS_INLINE static void upstream(const V* u, V* to, int step) {
    to[0] = u[0];
    to[step] = u[0] + u[step];
    to[2 * step] = u[0] - u[step];
    to[3 * step] = -u[step];
  }
  /// G^T m, for the gradient of a window.
  template <class T, class V>
  CROCHET_ALWAYS_INLINE static void gradient(const V* m, V* to, int step) {
    const V outer = (m[step] + m[2 * step]) * T(0.5);
    to[0] = m[0] + outer;
    to[step] = (m[step] - m[2 * step]) * T(0.5);
    to[2 * step] = outer + m[3 * step];
  }
};

template <>
struct Dimension<4> {
  template <class V>
  CROCHET_ALWAYS_INLINE static void pixels(const V* d, V* to, int step) {
    const V d1 = d[step], d2 = d[2 * step], d3 = d[3 * step], d4 = d[4 * step];
    const V a = d4 - 4 * d2, b = d3 - 4 * d1, c = d4 - d2, e = 2 * (d3 - d1);
    to[0] = 4 * d[0] - 5 * d2 + d4;
    to[step] = a + b;
    to[2 * step] = a - b;
    to[3 * step] = c + e;
    to[4 * step] = c - e;
    to[5 * step] = 4 * d1 - 5 * d3 + d[5 * step];
  }
  template <class T, class V>
  CROCHET_ALWAYS_INLINE static void window(const V* g, V* to, int step) {
    const V g0 = g[0], g1 = g[step], g2 = g[2 * step];
    const V outer = (g0 + g2) * T(-1.0 / 6), inner = g1 * T(1.0 / 6);
    const V far = g0 * T(1.0 / 24) + g2 * T(1.0 / 6), near = g1 * T(1.0 / 12);
    to[0] = g0 * T(0.25);
    to[step] = outer - inner;
    to[2 * step] = outer + inner;
    to[3 * step] = far + near;
    to[4 * step] = far - near;
    to[5 * step] = g2;
  }
  template <class T, class V>
  CROCHET_ALWAYS_INLINE static void sums(const V* m, V* to, int step) {
    const V m1 = m[step], m2 = m[2 * step], m3 = m[3 * step], m4 = m[4 * step];
    const V p = m1 + m2, q = m1 - m2, r = m3 + m4, s = m3 - m4;
    to[0] = m[0] + p + r;
    to[step] = q + s * T(2);
    to[2 * step] = p + r * T(4);
    to[3 * step] = q + s * T(8) + m[5 * step];
  }
  template <class T, class V>
  CROCHET_ALWAYS_INLINE static void upstream(const V* u, V* to, int step) {
    const V u1 = u[step], u2 = u[2 * step], u3 = u[3 * step];
    const V even = u[0] + u2, odd = u1 + u3, far_even = u[0] + u2 * T(4), far_odd = u1 * T(2) + u3 * T(8);
    to[0] = u[0];
    to[step] = even + odd;
    to[2 * step] = even - odd;
    to[3 * step] = far_even + far_odd;
    to[4 * step] = far_even - far_odd;
    to[5 * step] = u3;
  }
  template <class T, class V>
  CROCHET_ALWAYS_INLINE static void gradient(const V* m, V* to, int step) {
    const V m1 = m[step], m2 = m[2 * step], m3 = m[3 * step], m4 = m[4 * step];
    const V near = (m1 + m2) * T(1.0 / 6), far = m3 + m4;
    to[0] = m[0] * T(0.25) - near + far * T(1.0 / 24);
    to[step] = (m2 - m1) * T(1.0 / 6) + (m3 - m4) * T(1.0 / 12);
    to[2 * step] = far * T(1.0 / 6) - near + m[5 * step];
  }
};

}  // namespace crochet::kernel::winograd
