// SPDX-License-Identifier: Apache-2.0
// The interface of a product policy (Backend). A policy has one function:
//   template <ProductPaths P = {}, class T, class Epilogue>
//   static void multiply(Matrix<T> a, Matrix<T> b, std::int64_t depth, Range rows, Range columns, Worker&, const
//   Epilogue&)
// It computes the given rows and columns of a b and passes them to the epilogue. P: the code paths that may be needed.
// It may use the worker's scratch memory from `scratch_offset` on. The constant `packs` is true if b may be in panels.
// With a constant `reads_bfloat16` = true, b may be a Matrix<bfloat16> for a of float.
// With a constant `rounds_to_bfloat16` = true convolutions of floats are sums of products of bfloat16 numbers, too, and
// with `rounds_to_int8` = true of integers of 8 bits; runs that change a variable then do not compile. With a constant
// `exact` = true no algorithm is used that has other rounding errors than a sum of products. The constant
// `divides_freely`, false if it is absent, is true if an element of the result has the same bits in every part of the
// product that begins at multiples of the grains.
#pragma once
#include <crochet/base/instruction_set.hpp>
#include <crochet/kernels/call.hpp>
#include <crochet/kernels/cpu/product_paths.hpp>
#include <crochet/kernels/epilogue.hpp>
#include <crochet/kernels/panels.hpp>

namespace crochet::kernel::CROCHET_ISA {

template <class Backend>
inline constexpr bool is_exact = false;
template <class Backend>
requires(Backend::exact) inline constexpr bool is_exact<Backend> = true;

/// A matrix with strides, one of which is 1. A transposed matrix has its strides exchanged.
template <class T>
struct Matrix {
  const T* data;        ///< not null, even for an empty matrix
  std::int64_t row;     ///< the distance of rows
  std::int64_t column;  ///< the distance of columns
  /// the distance of panels if the stored matrix (this one or its transpose) is in panels, else 0
  std::int64_t panel = 0;

  bool transposed() const { return column != 1; }
  const T* at(std::int64_t i, std::int64_t j) const {
    if (panel == 0) return data + i * row + j * column;
    const std::int64_t width = transposed() ? column : row;
    const std::int64_t n = transposed() ? i : j, k = transposed() ? j : i;  // column and row of the stored matrix
    return data + n / width * panel + k * width + n % width;
  }
};

template <class T>
Matrix<T> row_major(const T* data, std::int64_t columns, bool transposed = false) {
  return transposed ? Matrix<T>{data, 1, columns} : Matrix<T>{data, columns, 1};
}
/// A [rows, columns] matrix stored in panels, or its transpose.
template <class T>
Matrix<T> in_panels(const T* data, std::int64_t rows, std::int64_t columns, bool transposed = false) {
  const std::int64_t pitch = panel_pitch<T>(columns);
  return transposed ? Matrix<T>{data, 1, pitch, rows * pitch} : Matrix<T>{data, pitch, 1, rows * pitch};
}
/// A tensor as a matrix: its last dimension is the columns.
template <class T>
Matrix<T> matrix_of(const Operand& x, bool transposed = false) {
  const std::int64_t columns = x[x.rank - 1];
  if (x.layout == Layout::row_major) return row_major(x.as<const T>(), columns, transposed);
  return in_panels(x.as<const T>(), columns == 0 ? 0 : x.size() / columns, columns, transposed);
}

/// Copies a matrix to row-major memory in blocks of 16 by 16, which keeps accesses with a long stride in the cache.
template <class T>
void copy_row_major(Matrix<T> from, std::int64_t rows, std::int64_t columns, T* to, std::int64_t pitch) {
  constexpr std::int64_t block = 16;
  for (std::int64_t i0 = 0; i0 < rows; i0 += block) {
    const std::int64_t i1 = i0 + block < rows ? i0 + block : rows;
    for (std::int64_t j0 = 0; j0 < columns; j0 += block) {
      const std::int64_t j1 = j0 + block < columns ? j0 + block : columns;
      for (std::int64_t j = j0; j < j1; ++j) {
        for (std::int64_t i = i0; i < i1; ++i) to[i * pitch + j] = *from.at(i, j);
      }
    }
  }
}

/// An epilogue that adds the results to a matrix in memory.
template <class T>
struct AddTo {
  T* data;
  std::int64_t pitch;

  static constexpr bool plain = false, adds = true;

  template <int U, class V>
  CROCHET_ALWAYS_INLINE void vectors(std::int64_t i, std::int64_t j, const V* results) const {
    CROCHET_UNROLL
    for (int u = 0; u < U; ++u) {
      T* p = data + i * pitch + j + u * simd::lanes;
      simd::store(p, simd::load<T, true>(p) + results[u]);
    }
  }
  void row(std::int64_t i, std::int64_t j, std::int64_t n, const T* results) const {
    T* p = data + i * pitch + j;
    for (std::int64_t k = 0; k < n; ++k) p[k] += results[k];
  }
};

/// An epilogue that stores the results as a matrix.
template <class T>
struct StoreTo {
  T* data;
  std::int64_t width;

  static constexpr bool plain = true;
  T* destination(std::int64_t i, std::int64_t j) const { return data + i * width + j; }
  std::int64_t pitch() const { return width; }

  template <int U, class V>
  CROCHET_ALWAYS_INLINE void vectors(std::int64_t i, std::int64_t j, const V* results) const {
    CROCHET_UNROLL
    for (int u = 0; u < U; ++u) simd::store(destination(i, j) + u * simd::lanes, results[u]);
  }
  void row(std::int64_t i, std::int64_t j, std::int64_t n, const T* results) const {
    __builtin_memcpy(destination(i, j), results, static_cast<std::size_t>(n) * sizeof(T));
  }
};

/// An epilogue that moves the results `rows` rows down, for kernels that compute them block by block.
template <class Epilogue>
struct Below {
  const Epilogue& epilogue;
  std::int64_t rows;

  static constexpr bool plain = Epilogue::plain;
  auto* destination(std::int64_t i, std::int64_t j) const { return epilogue.destination(rows + i, j); }
  std::int64_t pitch() const { return epilogue.pitch(); }
  template <int U, class V>
  CROCHET_ALWAYS_INLINE void vectors(std::int64_t i, std::int64_t j, const V* results) const {
    epilogue.template vectors<U>(rows + i, j, results);
  }
  template <class T>
  void row(std::int64_t i, std::int64_t j, std::int64_t n, const T* results) const {
    epilogue.row(rows + i, j, n, results);
  }
};

/// Calls use(worker) for this member's share of a product of `work` multiplications. If the policy's results depend on
/// how the product is divided, it is divided into parts that do not depend on the number of members, and the worker
/// stands for one of them.
template <class Backend, class Use>
CROCHET_ALWAYS_INLINE void each_share(Worker& w, std::int64_t work, Use use) {
  if constexpr (requires { requires Backend::divides_freely; }) {
    use(w);
  } else {
    const int parts = w.parts_of(work, 1 << 15);
    const Range mine = w.part(parts);
    for (std::int64_t p = mine.from; p < mine.to; ++p) {
      Worker share = w.share(static_cast<int>(p), parts);
      use(share);
    }
  }
}

/// Splits a product's result over the team. By columns where they divide evenly, so that each member's columns of the
/// weights stay in its cache from step to step. Otherwise by rows, if there are enough.
struct Split {
  Range rows, columns;
};
inline Split split(const Worker& w, std::int64_t rows, std::int64_t columns, std::int64_t row_grain,
                   std::int64_t column_grain) {
  const std::int64_t units = (columns + column_grain - 1) / column_grain;
  const bool even = units % w.count() == 0 || units >= 4 * w.count();
  if (!even && rows >= row_grain * w.count()) return {w.part(rows, row_grain), {0, columns}};
  return {{0, rows}, w.part(columns, column_grain)};
}

}  // namespace crochet::kernel::CROCHET_ISA
