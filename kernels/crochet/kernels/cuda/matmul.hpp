// SPDX-License-Identifier: Apache-2.0
// The matrix product on a device.
#pragma once
#include <crochet/graph/ops/matmul.hpp>
#include <crochet/kernels/cuda/epilogue.hpp>
#include <crochet/kernels/cuda/product.hpp>

namespace crochet::cuda {

template <>
struct Kernel<&op::matmul> {
  template <class Types, class Block, class Epilogue>
  CROCHET_DEVICE static void run(Block& block, const Call& call, const Epilogue& epilogue) {
    using T = typename Types::out;
    const bool ta = call.attribute(0) != 0, tb = call.attribute(1) != 0;
    const Operand a = call.in(0), b = call.in(1);
    const auto x = matrix<T>(a, ta), y = matrix<T>(b, tb);
    products<T>(
        block, call, x.rows, y.columns, x.columns, 1, [&](int) { return x; }, [&](int) { return y; },
        [&](int, int i, int j, const auto& result) {
          epilogue.template elements<detail::vector_elements>(i, j, y.columns, result);
        });
  }
  static constexpr Room room(const Sizes& s) {
    const TableOperand &out = s.out(), &a = s.in(0);
    const int n = out.extents[out.rank - 1], m = n == 0 ? 0 : out.size / n;
    const int depth = s.step.ints[0] != 0 ? a.extents[0] : a.extents[a.rank - 1];
    return ProductParts::of(m, n, depth).room(s.element_bytes);
  }

 private:
  template <class T>
  CROCHET_DEVICE_INLINE static MatrixOperand<T> matrix(const Operand& x, bool transposed) {
    const int columns = x.columns();
    return MatrixOperand<T>::of(x.as<const T>(), columns == 0 ? 0 : x.size() / columns, columns, transposed);
  }
};

}  // namespace crochet::cuda
