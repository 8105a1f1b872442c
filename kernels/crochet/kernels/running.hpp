// SPDX-License-Identifier: Apache-2.0
// Running: the accumulator of one reduction in a loop.
#pragma once
#include <crochet/base/instruction_set.hpp>
#include <crochet/kernels/reduction.hpp>
#include <crochet/kernels/registers.hpp>

namespace crochet::kernel::CROCHET_ISA {

/// Joins the elements of a register, by repeated halving.
template <class How, class T, class V>
CROCHET_ALWAYS_INLINE simd::cell_t<T> join_elements(const V& v) {
  if constexpr (simd::is_scalar<V>) {
    return v;
  } else {
    constexpr int n = simd::lanes_of<V>;
    simd::cell_t<T> x[n];
    __builtin_memcpy(x, &v, sizeof x);
    CROCHET_UNROLL
    for (int half = n / 2; half > 0; half /= 2) {
      CROCHET_UNROLL
      for (int i = 0; i < half; ++i) x[i] = How::join(x[i], x[i + half]);
    }
    return x[0];
  }
}

/// Joins a stream of registers to one element: in T within some blocks, in sum_t between them.
template <class How, class T, int N>
class Running {
 public:
  using V = simd::cells_t<T, N>;
  CROCHET_ALWAYS_INLINE void add(const V& v) {
    part_ = How::join(part_, v);
    if (How::rounds && --left_ == 0) flush();
  }
  CROCHET_ALWAYS_INLINE void add_element(sum_t<How, T> x) { total_ = How::join(total_, x); }
  CROCHET_HOST_DEVICE sum_t<How, T> take() {
    flush();
    const sum_t<How, T> total = total_;
    total_ = How::template nothing<sum_t<How, T>>;
    return total;
  }

 private:
  static constexpr int some = 64;
  CROCHET_ALWAYS_INLINE void flush() {
    total_ = How::join(total_, static_cast<sum_t<How, T>>(join_elements<How, T>(part_)));
    part_ = simd::fill<T, N>(How::template nothing<simd::cell_t<T>>);
    left_ = some;
  }

  V part_ = simd::fill<T, N>(How::template nothing<simd::cell_t<T>>);
  sum_t<How, T> total_ = How::template nothing<sum_t<How, T>>;
  int left_ = some;
};

}  // namespace crochet::kernel::CROCHET_ISA
