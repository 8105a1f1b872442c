// SPDX-License-Identifier: Apache-2.0
// EigenProducts: matrix products by Eigen. The only header of the CPU executor that includes Eigen.
#pragma once
#include <Eigen/Core>

#include <crochet/base/instruction_set.hpp>
#include <crochet/kernels/cpu/matrix.hpp>

namespace crochet::kernel::CROCHET_ISA {

class EigenProducts {
 public:
  static constexpr bool packs = false;
  template <class T>
  static constexpr std::int64_t row_grain = 16;
  template <class T>
  static constexpr std::int64_t column_grain = 32;

  /// The size of the scratch memory of a product, in elements.
  template <class T>
  static std::int64_t scratch(std::int64_t rows, std::int64_t columns, std::int64_t depth) {
    return block_size<T>(rows, columns) + depth * columns;
  }

  template <ProductPaths P = ProductPaths{}, class T, class Epilogue>
  static void multiply(Matrix<T> a, Matrix<T> b, std::int64_t depth, Range rows, Range columns, Worker& worker,
                       const Epilogue& epilogue, std::int64_t scratch_offset = 0) {
    const std::int64_t m = rows.size(), n = columns.size();
    if (m <= 0 || n <= 0) return;
    T* block_out = worker.scratch<T>(scratch_offset + scratch<T>(m, n, depth)) + scratch_offset;
    Matrix<T> right = block(b, 0, columns.from);
    if (right.column != 1) {
      // b is transposed in memory first: instantiating Eigen for every combination of storage orders would add a
      // second of compile time.
      T* turned = block_out + block_size<T>(m, n);
      copy_row_major(right, depth, n, turned, n);
      right = row_major(static_cast<const T*>(turned), n);
    }
    if constexpr (Epilogue::plain) {
      product<false>(block(a, rows.from, 0), right, depth, m, n, epilogue.destination(rows.from, columns.from),
                     epilogue.pitch());
    } else if constexpr (requires { requires Epilogue::adds; }) {
      product<true>(block(a, rows.from, 0), right, depth, m, n,
                    epilogue.data + rows.from * epilogue.pitch + columns.from, epilogue.pitch);
    } else {
      // One block of rows at a time, small enough to still be in the cache when the epilogue reads it.
      const std::int64_t most = at_once<T>(n);
      for (std::int64_t i = 0; i < m; i += most) {
        const std::int64_t some = m - i < most ? m - i : most;
        product<false>(block(a, rows.from + i, 0), right, depth, some, n, block_out, n);
        for (std::int64_t r = 0; r < some; ++r) epilogue.row(rows.from + i + r, columns.from, n, block_out + r * n);
      }
    }
  }

 private:
  template <class T>
  static std::int64_t at_once(std::int64_t columns) {
    const std::int64_t rows = (std::int64_t{1} << 16) / (columns < 1 ? 1 : columns);
    return rows < row_grain<T> ? row_grain<T> : rows;
  }

  template <class T>
  static std::int64_t block_size(std::int64_t rows, std::int64_t columns) {
    const std::int64_t some = at_once<T>(columns);
    return (rows < some ? rows : some) * columns;
  }

  template <class T, int Order>
  using Dense = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Order>;
  template <class T, int Order>
  using View = Eigen::Map<const Dense<T, Order>, Eigen::Unaligned, Eigen::OuterStride<>>;
  template <class T>
  using Result = Eigen::Map<Dense<T, Eigen::RowMajor>, Eigen::Unaligned, Eigen::OuterStride<>>;

  template <class T>
  static Matrix<T> block(Matrix<T> m, std::int64_t i, std::int64_t j) {
    return {m.at(i, j), m.row, m.column};
  }

  template <bool Add, class T>
  static void product(Matrix<T> a, Matrix<T> b, std::int64_t k, std::int64_t m, std::int64_t n, T* out,
                      std::int64_t pitch) {
    Result<T> c(out, m, n, Eigen::OuterStride<>(pitch));
    if (a.column == 1) return put<Add>(c, by_rows(a, m, k), by_rows(b, k, n));
    put<Add>(c, by_columns(a, m, k), by_rows(b, k, n));
  }
  template <bool Add, class C, class A, class B>
  static void put(C& c, const A& a, const B& b) {
    if constexpr (Add) {
      c.noalias() += a * b;
    } else {
      c.noalias() = a * b;
    }
  }
  template <class T>
  static View<T, Eigen::RowMajor> by_rows(Matrix<T> m, std::int64_t rows, std::int64_t columns) {
    return {m.data, rows, columns, Eigen::OuterStride<>(m.row)};
  }
  template <class T>
  static View<T, Eigen::ColMajor> by_columns(Matrix<T> m, std::int64_t rows, std::int64_t columns) {
    return {m.data, rows, columns, Eigen::OuterStride<>(m.column)};
  }
};

}  // namespace crochet::kernel::CROCHET_ISA
