// SPDX-License-Identifier: Apache-2.0
// The matrix product.
#pragma once
#include <crochet/graph/ops/matmul.hpp>
#include <crochet/kernels/cpu/matrix.hpp>
#include <crochet/kernels/cpu/widened_product.hpp>

namespace crochet {

template <>
struct Kernel<&op::matmul> {
  using Paths = kernel::ProductPaths;

  template <class Backend, class Types, Paths P, class Epilogue>
  [[gnu::noinline]] static void run(const kernel::Call& call, const Epilogue& epilogue) {
    using T = typename Types::out;
    using A = kernel::in_t<Types, 0>;
    using B = kernel::in_t<Types, 1>;
    const Operands<A, B> x(call);
    kernel::each_share<Backend>(call.worker, x.m * x.n * x.depth, [&](kernel::Worker& share) {
      const kernel::Split mine =
          kernel::split(share, x.m, x.n, Backend::template row_grain<T>, Backend::template column_grain<T>);
      if constexpr (std::is_same_v<A, T> && std::is_same_v<B, T>) {
        Backend::template multiply<P>(x.a, x.b, x.depth, mine.rows, mine.columns, share, epilogue);
      } else {
        kernel::multiply_stored<Backend, P>(x.a, x.b, x.depth, mine, share, epilogue);
      }
    });
  }

 private:
  /// The operands and sizes of the product. Does not depend on the program, so all programs share the code.
  template <class A, class B>
  struct Operands {
    kernel::Matrix<A> a;
    kernel::Matrix<B> b;
    std::int64_t m, n, depth;

    [[gnu::noinline]] explicit Operands(const kernel::Call& call) {
      const bool ta = call.attributes.ints[0] != 0, tb = call.attributes.ints[1] != 0;
      n = call.out[call.out.rank - 1];
      m = n == 0 ? 0 : call.out.size() / n;
      a = kernel::matrix_of<A>(call.in[0], ta);
      b = kernel::matrix_of<B>(call.in[1], tb);
      depth = call.in[0][ta ? 0 : call.in[0].rank - 1];
    }
  };
};

}  // namespace crochet
