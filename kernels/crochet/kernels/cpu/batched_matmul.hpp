// SPDX-License-Identifier: Apache-2.0
// Batched matrix products. The rows of all products are split over the team as if they were one matrix's: a thread may
// take the end of one product, some whole ones, and the beginning of another.
#pragma once
#include <crochet/base/instruction_set.hpp>
#include <crochet/graph/ops/batched_matmul.hpp>
#include <crochet/kernels/cpu/matrix.hpp>

namespace crochet {

namespace kernel::CROCHET_ISA::detail {

/// The matrices of an operand. By numpy's broadcasting one may be used for several matrices of the result.
class Matrices {
 public:
  Matrices(const Operand& part, const Operand& out) : rank_(out.rank - 2), out_(out.extents) {
    std::int64_t step = part[part.rank - 1] * part[part.rank - 2];
    CROCHET_SHORT_LOOP
    for (std::size_t i = 0; i + 2 < part.rank; ++i) {
      const std::int64_t extent = part[part.rank - 3 - i];
      stride_[rank_ - 1 - i] = extent == 1 ? 0 : step;
      step *= extent;
    }
  }
  /// The offset, in elements, of the operand's matrix for matrix `i` of the result.
  std::int64_t before(std::int64_t i) const {
    std::int64_t at = 0;
    for (std::size_t d = rank_; d-- > 0; i /= out_[d]) at += i % out_[d] * stride_[d];
    return at;
  }

 private:
  std::size_t rank_;
  std::array<std::int64_t, max_rank> out_, stride_{};
};

/// Calls multiply(matrix, rows, columns) for this worker's part of `count` products [m, n].
template <class Multiply>
void each_of_my_products(const Worker& w, std::int64_t count, std::int64_t m, std::int64_t n, std::int64_t row_grain,
                         std::int64_t column_grain, Multiply multiply) {
  const std::int64_t blocks = (m + row_grain - 1) / row_grain;
  if (count * blocks < w.count()) {
    const Range columns = w.part(n, column_grain);
    for (std::int64_t i = 0; i < count; ++i) multiply(i, Range{0, m}, columns);
    return;
  }
  const Range mine = w.part(count * blocks);
  for (std::int64_t at = mine.from; at < mine.to;) {
    const std::int64_t first = at % blocks, left = mine.to - at;
    const std::int64_t last = left < blocks - first ? first + left : blocks;
    multiply(at / blocks, Range{first * row_grain, last == blocks ? m : last * row_grain}, Range{0, n});
    at += last - first;
  }
}

template <class Backend, class T, ProductPaths P, class Epilogue>
[[gnu::noinline]] void batched_matmul(const Call& call, const Epilogue& epilogue) {
  const bool ta = call.attributes.ints[0] != 0, tb = call.attributes.ints[1] != 0;
  const Operand &a = call.in[0], &b = call.in[1], &out = call.out;
  const Matrices left(a, out), right(b, out);
  const std::int64_t m = out[out.rank - 2], n = out[out.rank - 1], depth = a[a.rank - (ta ? 2 : 1)];
  const std::int64_t count = m * n == 0 ? 0 : out.size() / (m * n);
  each_share<Backend>(call.worker, out.size() * depth, [&](Worker& share) {
    each_of_my_products(
        share, count, m, n, Backend::template row_grain<T>, Backend::template column_grain<T>,
        [&](std::int64_t i, Range rows, Range columns) {
          const Matrix<T> x = row_major(a.as<const T>() + left.before(i), a[a.rank - 1], ta);
          const Matrix<T> y = row_major(b.as<const T>() + right.before(i), b[b.rank - 1], tb);
          Backend::template multiply<P>(x, y, depth, rows, columns, share, Below<Epilogue>{epilogue, i * m});
        });
  });
}

struct BatchedMatmul {
  using Paths = ProductPaths;
  template <class Backend, class Types, Paths P, class Epilogue>
  static void run(const Call& call, const Epilogue& epilogue) {
    batched_matmul<Backend, typename Types::out, P>(call, epilogue);
  }
};
}  // namespace kernel::CROCHET_ISA::detail

template <>
struct Kernel<&op::batched_matmul<3>> : kernel::detail::BatchedMatmul {};
template <>
struct Kernel<&op::batched_matmul<4>> : kernel::detail::BatchedMatmul {};
template <>
struct Kernel<&op::batched_matmul<5>> : kernel::detail::BatchedMatmul {};
template <>
struct Kernel<&op::batched_matmul<6>> : kernel::detail::BatchedMatmul {};

}  // namespace crochet
