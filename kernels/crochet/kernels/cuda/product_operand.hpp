// SPDX-License-Identifier: Apache-2.0
// The operands of tiled products. Both are [rows, depth]: the left one, and the right one's transpose. A tile reads
// them by addresses, so that elements can be copied to shared memory without registers.
//
// An operand has
// - `row(i)`, a Part, and `step(k)`: the parts of an address that depend on the row and on the depth. A tile
//   computes each once. Rows beyond the last one do not exist; k may be a stage beyond the depth;
// - `Kept`: itself if a thread keeps it in registers, else a reference;
// - `at(row, step)`: the Address of the element;
// - `along_depth`: whether elements of neighbouring depth, rather than of neighbouring rows, are neighbours in memory;
// - `vectors`: whether aligned groups of four neighbours are aligned in memory, and exist or are zero together.
#pragma once
#include <crochet/kernels/cuda/loop.hpp>

namespace crochet::cuda {

/// The location of an operand's element.
template <class T>
struct Address {
  const T* at;
  bool exists;  ///< else the element is zero, and `at` is any address
};

namespace detail {

/// Whether groups of four elements of lines of `n` neighbours are aligned.
template <class T>
CROCHET_DEVICE_INLINE bool has_vectors(const T* data, int n, int pitch) {
  return n % vector_elements == 0 && pitch % vector_elements == 0 &&
         reinterpret_cast<std::uint64_t>(data) % (vector_elements * sizeof(T)) == 0;
}

}  // namespace detail

/// A matrix in memory.
template <class T>
struct MatrixOperand {
  const T* data;
  int row_pitch, depth_pitch;  ///< one of them is 1
  int rows;
  bool along_depth, vectors;

  using Part = Address<T>;
  using Kept = MatrixOperand;

  /// The left operand: a matrix [rows, depth] in memory or, if `transposed`, [depth, rows]. `columns` and `pitch` are
  /// of the matrix in memory.
  CROCHET_DEVICE_INLINE static MatrixOperand left(const T* data, int rows, int columns, int pitch, bool transposed) {
    const bool vectors = detail::has_vectors(data, columns, pitch);
    return transposed ? MatrixOperand{data, 1, pitch, columns, false, vectors}
                      : MatrixOperand{data, pitch, 1, rows, true, vectors};
  }
  /// The right operand: a matrix [depth, columns of the result] in memory or, if `transposed`, the reverse.
  CROCHET_DEVICE_INLINE static MatrixOperand right(const T* data, int rows, int columns, int pitch, bool transposed) {
    return left(data, rows, columns, pitch, !transposed);
  }

  CROCHET_DEVICE_INLINE Part row(int i) const {
    return i < rows ? Part{data + std::int64_t{1} * i * row_pitch, true} : Part{data, false};
  }
  CROCHET_DEVICE_INLINE std::int64_t step(int k) const { return std::int64_t{1} * k * depth_pitch; }
  CROCHET_DEVICE_INLINE Address<T> at(const Part& row, std::int64_t step) const { return {row.at + step, row.exists}; }
};

}  // namespace crochet::cuda
