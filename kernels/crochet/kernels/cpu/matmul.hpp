// SPDX-License-Identifier: Apache-2.0
// The matrix product.
#pragma once
#include <crochet/graph/ops/matmul.hpp>
#include <crochet/kernels/cpu/matrix.hpp>

namespace crochet {

template <>
struct Kernel<&op::matmul> {
  using Paths = kernel::ProductPaths;

  template <class Backend, class Types, Paths P, class Epilogue>
  [[gnu::noinline]] static void run(const kernel::Call& call, const Epilogue& epilogue) {
    using T = typename Types::out;
    const Operands<T> x(call);
    kernel::each_share<Backend>(call.worker, x.m * x.n * x.depth, [&](kernel::Worker& share) {
      const kernel::Split mine =
          kernel::split(share, x.m, x.n, Backend::template row_grain<T>, Backend::template column_grain<T>);
      Backend::template multiply<P>(x.a, x.b, x.depth, mine.rows, mine.columns, share, epilogue);
    });
  }

 private:
  /// The operands and sizes of the product. Does not depend on the program, so all programs share the code.
  template <class T>
  struct Operands {
    kernel::Matrix<T> a, b;
    std::int64_t m, n, depth;

    [[gnu::noinline]] explicit Operands(const kernel::Call& call) {
      const bool ta = call.attributes.ints[0] != 0, tb = call.attributes.ints[1] != 0;
      n = call.out[call.out.rank - 1];
      m = n == 0 ? 0 : call.out.size() / n;
      a = kernel::matrix_of<T>(call.in[0], ta);
      b = kernel::matrix_of<T>(call.in[1], tb);
      depth = call.in[0][ta ? 0 : call.in[0].rank - 1];
    }
  };
};

}  // namespace crochet
