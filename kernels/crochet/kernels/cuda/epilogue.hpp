// SPDX-License-Identifier: Apache-2.0
// The epilogue of a kernel on a device: passes results to the program that is fused into the kernel.
#pragma once
#include <crochet/kernels/cuda/loop.hpp>

namespace crochet::cuda {

/// A program bound to the memory of its operands. T: the element type of the kernel's results.
template <class T, class P, class R>
class Epilogue {
 public:
  CROCHET_DEVICE_INLINE explicit Epilogue(const Call& call)
      : refs_(RefsOf<R>::make(call)), columns_(call.step.columns), aligned_(detail::are_aligned(refs_)) {}

  /// Passes result (i, j).
  CROCHET_DEVICE_INLINE void element(int i, int j, T result) const {
    const simd::cell_t<T> root[1] = {result};
    kernel::evaluate<1, 1>(P{}, refs_, i, j, root);
  }
  /// Passes result number `at` of all, in row-major order.
  CROCHET_DEVICE_INLINE void element_at(int at, T result) const {
    if (columns_ == 0) return;
    const int i = at / columns_;
    element(i, at - i * columns_, result);
  }
  /// Passes the U results from address `results` on for (i, j), ..., (i, j + U - 1), of which those before column `end`
  /// exist. j is a multiple of U, and U results are aligned.
  template <int U>
  CROCHET_DEVICE_INLINE void elements(int i, int j, int end, const T* results) const {
    if (U == detail::vector_elements && aligned_ && columns_ % U == 0 && j + U <= end) {
      const auto all = *reinterpret_cast<const detail::Vector<T, U>*>(results);
      kernel::evaluate<1, U>(P{}, refs_, i, j, all.of);
      return;
    }
    CROCHET_DEVICE_UNROLL(1)
    for (int u = 0; u < U && j + u < end; ++u) element(i, j + u, results[u]);
  }

 private:
  R refs_;
  int columns_;
  bool aligned_;
};

}  // namespace crochet::cuda
