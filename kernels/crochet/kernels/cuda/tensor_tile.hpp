// SPDX-License-Identifier: Apache-2.0
// A tile of a product of floats on tensor cores: operands are rounded on their way to shared memory; sums are floats in
// registers.
#pragma once
#include <crochet/kernels/cuda/register_tile.hpp>
#include <crochet/kernels/cuda/tensor_operand.hpp>

namespace crochet::cuda::detail {

/// Size x Size results. A warp of 2 x `across` computes products of 16 x 8 results.
template <MatmulPrecision P, int Size>
class TensorTile {
  using Words = TensorWords<P, Size>;
  static constexpr int threads = 256, stage = Words::stage;
  static constexpr int across = Size > 32 ? 4 : 2, warp_rows = Size / 2, warp_columns = Size / across;
  static constexpr int row_products = warp_rows / 16, column_products = warp_columns / 8;
  struct Stage {
    Words a, b;
  };
  using Sums = float[row_products][column_products][4];

 public:
  /// As RegisterTile::compute().
  template <class Block, class A, class B>
  CROCHET_DEVICE_NOINLINE static void compute(Block& block, const A& left, const B& right, int i0, int j0, int from,
                                              int end, float* to) {
    static_assert(Block::threads == threads);
    auto& shared = block.template shared<Stage[2]>();
    TensorLoader<P, Size, true, A> a(block.thread(), left, i0);
    TensorLoader<P, Size, false, B> b(block.thread(), right, j0);
    const Place place(block.thread());
    Sums c{};
    block.sync();  // the shared memory may still be read for an earlier tile
    int now = 0;
    CROCHET_DEVICE_UNROLL(1)
    for (int k = from - stage; k < end; k += stage) {
      a.load(k + stage, end);
      b.load(k + stage, end);
      if (k >= from && place.row < Size) multiply(block, shared[now], place, c);
      now ^= 1;
      a.store(block, shared[now].a, k + stage, end);
      b.store(block, shared[now].b, k + stage, end);
      block.sync();
    }
    if (place.row < Size) store(c, place, to);
    block.sync();
  }

 private:
  /// The first row and column of a thread's results. Warps without results have rows beyond the tile.
  struct Place {
    int group, t, row, column;
    CROCHET_DEVICE_INLINE explicit Place(int thread)
        : group(thread % warp_size / 4),
          t(thread % 4),
          row(thread / warp_size / across * warp_rows + group * 2),
          column(thread / warp_size % across * warp_columns) {}
  };

  template <class Block>
  CROCHET_DEVICE_INLINE static void multiply(Block& block, const Stage& s, const Place& place, Sums& c) {
    const auto* const rows = &s.a.pairs[place.row / 2];
    const auto* const columns = &s.b.pairs[place.column / 2 + place.group];
    CROCHET_UNROLL
    for (int half = 0; half < Words::units; half += 4) {
      const int unit = (half + place.t) ^ Words::order(place.group);
      typename Words::Unit b[column_products / 2];
      CROCHET_UNROLL
      for (int j = 0; j < column_products / 2; ++j) b[j] = columns[8 * j][unit];
      CROCHET_UNROLL
      for (int i = 0; i < row_products; ++i) {
        const auto a = rows[8 * i][unit];
        CROCHET_UNROLL
        for (int j = 0; j < column_products; ++j) {
          const auto& two = b[j / 2];
          multiply(block, c[i][j], a.of, {two.of[j % 2 * 2], two.of[j % 2 * 2 + 1]});
        }
      }
    }
  }
  template <class Block>
  CROCHET_DEVICE_INLINE static void multiply(Block& block, float (&c)[4], const std::uint32_t (&a)[4],
                                             const std::uint32_t (&b)[2]) {
    if constexpr (P == MatmulPrecision::bf16) {
      block.multiply_bf16(c, a, b);
    } else {
      block.multiply_tf32(c, a, b);
    }
  }
  /// Two products of neighbouring columns have four neighbouring results of a row in a thread.
  CROCHET_DEVICE_INLINE static void store(const Sums& c, const Place& place, float* to) {
    CROCHET_UNROLL
    for (int i = 0; i < row_products; ++i) {
      CROCHET_UNROLL
      for (int j = 0; j < column_products; j += 2) {
        CROCHET_UNROLL
        for (int r = 0; r < 2; ++r) {
          const auto &x = c[i][j], &y = c[i][j + 1];
          float* const at = to + (place.row + 16 * i + r) * Size + place.column + 8 * j + 4 * place.t;
          *reinterpret_cast<Vector<float, 4>*>(at) = {{x[2 * r], y[2 * r], x[2 * r + 1], y[2 * r + 1]}};
        }
      }
    }
  }
};

/// The tile of products of T on a Block.
template <class T, class Block, int Size>
struct TileOf {
  using type = RegisterTile<T, Size>;
};
template <class Block, int Size>
requires(Block::precision != MatmulPrecision::fp32) struct TileOf<float, Block, Size> {
  using type = TensorTile<Block::precision, Size>;
};

}  // namespace crochet::cuda::detail
