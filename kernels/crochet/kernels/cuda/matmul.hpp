// SPDX-License-Identifier: Apache-2.0
// The matrix product on a device.
#pragma once
#include <crochet/graph/ops/matmul.hpp>
#include <crochet/kernels/cuda/epilogue.hpp>
#include <crochet/kernels/cuda/product.hpp>

namespace crochet::cuda {

namespace detail {

template <class T>
struct MatmulFactors : Factors<MatrixOperand<T>, MatrixOperand<T>> {
  CROCHET_DEVICE_NOINLINE explicit MatmulFactors(const Call& call)
      : MatmulFactors::Shared(MatmulFactors::copied(of(call))) {}

 private:
  CROCHET_DEVICE_INLINE static typename MatmulFactors::Shared of(const Call& call) {
    const bool ta = call.attribute(0) != 0, tb = call.attribute(1) != 0;
    const Operand a = call.in(0), b = call.in(1);
    const int columns = a.columns(), rows = columns == 0 ? 0 : a.size() / columns, n = tb ? b[0] : b[1];
    return {ta ? columns : rows, n, ta ? rows : columns,
            MatrixOperand<T>::left(a.as<const T>(), rows, columns, columns, ta),
            MatrixOperand<T>::right(b.as<const T>(), b[0], b[1], b[1], tb)};
  }
};

}  // namespace detail

template <>
struct Kernel<&op::matmul> {
  template <class Types, class Block, class Epilogue>
  CROCHET_DEVICE static void run(Block& block, const Call& call, const Epilogue& epilogue) {
    using T = typename Types::out;
    products<T>(block, call, detail::MatmulFactors<T>(call), epilogue);
  }
  static constexpr Room room(const Sizes& s) {
    const TableOperand &out = s.out(), &a = s.in(0);
    const int n = out.extents[out.rank - 1], m = n == 0 ? 0 : out.size / n;
    return product_room(s, m, n, s.step.ints[0] != 0 ? a.extents[0] : a.extents[a.rank - 1]);
  }
};

}  // namespace crochet::cuda
