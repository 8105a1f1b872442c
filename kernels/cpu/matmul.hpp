// SPDX-License-Identifier: Apache-2.0
// The matrix product.
#pragma once
#include <crochet/graph/ops/matmul.hpp>
#include <crochet/kernels/cpu/matrix.hpp>

namespace crochet {

template <>
struct Kernel<&op::matmul> {
  template <class Backend, class Types, class Epilogue>
  [[gnu::noinline]] static void run(const kernel::Call& call, const Epilogue& epilogue) {
    using T = typename Types::out;
    const bool ta = call.attributes.ints[0] != 0, tb = call.attributes.ints[1] != 0;
    const kernel::Operand &a = call.in[0], &b = call.in[1];
    const std::int64_t n = call.out[call.out.rank - 1], m = n == 0 ? 0 : call.out.size() / n;
    const std::int64_t depth = a[ta ? 0 : a.rank - 1];
    const kernel::Split mine =
        kernel::split(call.worker, m, n, Backend::template row_grain<T>, Backend::template column_grain<T>);
    Backend::multiply(kernel::matrix_of<T>(a, ta), kernel::matrix_of<T>(b, tb), depth, mine.rows, mine.columns,
                      call.worker, epilogue);
  }
};

}  // namespace crochet
