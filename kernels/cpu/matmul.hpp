// SPDX-License-Identifier: Apache-2.0
// The matrix product.
#pragma once
#include <crochet/graph/ops/matmul.hpp>
#include <crochet/kernels/cpu/matrix.hpp>

namespace crochet {

template <>
struct Kernel<&op::matmul> {
  using Paths = kernel::ProductPaths;
  template <class Types>
  static constexpr void add(Paths& all, const Attributes& attributes, const Shape* in, const Shape& out) {
    const bool ta = attributes.ints[0] != 0, tb = attributes.ints[1] != 0;
    all.add<typename Types::out>(ta, tb, in[0].from_right(ta ? 1 : 0), out.from_right(0));
  }

  template <class Backend, class Types, Paths P, class Epilogue>
  [[gnu::noinline]] static void run(const kernel::Call& call, const Epilogue& epilogue) {
    using T = typename Types::out;
    const bool ta = call.attributes.ints[0] != 0, tb = call.attributes.ints[1] != 0;
    const kernel::Operand &a = call.in[0], &b = call.in[1];
    const std::int64_t n = call.out[call.out.rank - 1], m = n == 0 ? 0 : call.out.size() / n;
    const std::int64_t depth = a[ta ? 0 : a.rank - 1];
    const kernel::Split mine =
        kernel::split(call.worker, m, n, Backend::template row_grain<T>, Backend::template column_grain<T>);
    Backend::template multiply<P>(kernel::matrix_of<T>(a, ta), kernel::matrix_of<T>(b, tb), depth, mine.rows,
                                  mine.columns, call.worker, epilogue);
  }
};

}  // namespace crochet
