// SPDX-License-Identifier: Apache-2.0
// Batched matrix products on a device.
#pragma once
#include <crochet/graph/ops/batched_matmul.hpp>
#include <crochet/kernels/cuda/epilogue.hpp>
#include <crochet/kernels/cuda/product.hpp>

namespace crochet::cuda {

namespace detail {

/// The offset of an operand's matrix for matrix `which` of the result, by numpy's broadcasting.
CROCHET_DEVICE_INLINE int matrix_offset(const Operand& part, const Operand& out, int which) {
  int at = 0, step = part[part.rank() - 1] * part[part.rank() - 2];
  for (int i = 0; i + 2 < out.rank(); ++i) {
    const int d = out.rank() - 3 - i, extent = i + 2 < part.rank() ? part[part.rank() - 3 - i] : 1;
    if (extent != 1) at += which % out[d] * step;
    which /= out[d];
    step *= extent;
  }
  return at;
}

/// The factors of all matrices of a batch.
template <class T>
struct BatchFactors {
  using Shared = BatchFactors;
  Operand a, b, out;
  bool ta, tb;
  int m, n, depth, count;

  CROCHET_DEVICE_NOINLINE explicit BatchFactors(const Call& call)
      : a(call.in(0)),
        b(call.in(1)),
        out(call.out()),
        ta(call.attribute(0) != 0),
        tb(call.attribute(1) != 0),
        m(out[out.rank() - 2]),
        n(out.columns()),
        depth(a[a.rank() - (ta ? 2 : 1)]),
        count(m * n == 0 ? 0 : out.size() / (m * n)) {}
  CROCHET_DEVICE_INLINE MatrixOperand<T> left(int p) const {
    return MatrixOperand<T>::left(a.as<const T>() + matrix_offset(a, out, p), a[a.rank() - 2], a.columns(), a.columns(),
                                  ta);
  }
  CROCHET_DEVICE_INLINE MatrixOperand<T> right(int p) const {
    return MatrixOperand<T>::right(b.as<const T>() + matrix_offset(b, out, p), b[b.rank() - 2], b.columns(),
                                   b.columns(), tb);
  }
};

struct BatchedMatmul {
  template <class Types, class Block, class Epilogue>
  CROCHET_DEVICE static void run(Block& block, const Call& call, const Epilogue& epilogue) {
    using T = typename Types::out;
    products<T>(block, call, BatchFactors<T>(call), epilogue);
  }
  static constexpr Room room(const Sizes& s) {
    const TableOperand &out = s.out(), &a = s.in(0);
    const int m = out.extents[out.rank - 2], n = out.extents[out.rank - 1];
    const int depth = a.extents[a.rank - (s.step.ints[0] != 0 ? 2 : 1)];
    return product_room(s, m, n, depth, m * n == 0 ? 0 : out.size / (m * n));
  }
};

}  // namespace detail

template <>
struct Kernel<&op::batched_matmul<3>> : detail::BatchedMatmul {};
template <>
struct Kernel<&op::batched_matmul<4>> : detail::BatchedMatmul {};
template <>
struct Kernel<&op::batched_matmul<5>> : detail::BatchedMatmul {};
template <>
struct Kernel<&op::batched_matmul<6>> : detail::BatchedMatmul {};

}  // namespace crochet::cuda
