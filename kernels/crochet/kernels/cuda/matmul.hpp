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
    const int columns = a.columns(), rows = columns == 0 ? 0 : a.size() / columns, n = tb ? b[0] : b[1];
    const auto x = MatrixOperand<T>::left(a.as<const T>(), rows, columns, columns, ta);
    const auto y = MatrixOperand<T>::right(b.as<const T>(), b[0], b[1], b[1], tb);
    products<T>(
        block, call, ta ? columns : rows, n, ta ? rows : columns, 1, [&](int) { return x; }, [&](int) { return y; },
        [&](int, int i, int j, const auto& result) {
          epilogue.template elements<detail::vector_elements>(i, j, n, result);
        });
  }
  static constexpr Room room(const Sizes& s) {
    const TableOperand &out = s.out(), &a = s.in(0);
    const int n = out.extents[out.rank - 1], m = n == 0 ? 0 : out.size / n;
    return product_room(s, m, n, s.step.ints[0] != 0 ? a.extents[0] : a.extents[a.rank - 1]);
  }
};

}  // namespace crochet::cuda
