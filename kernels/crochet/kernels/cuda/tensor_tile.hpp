// SPDX-License-Identifier: Apache-2.0
// A tile of a product of floats on tensor cores: operands are rounded to words (block.hpp) on their way to shared
// memory; sums are floats in registers.
#pragma once
#include <crochet/kernels/cuda/register_tile.hpp>

namespace crochet::cuda::detail {

/// The operands of a stage as words, in the order in which a thread gives them to multiply_tf32() and multiply_bf16().
/// A unit is two words of depth of two rows, and a thread takes a unit at once. The rows of a pair are rows g and g + 8
/// of a left operand, and column g of two right operands; their words are t and t + 4.
template <MatmulPrecision P, int Size>
struct TensorWords {
  static constexpr int in_word = P == MatmulPrecision::bf16 ? 2 : 1;
  static constexpr int units = 8, unit_depth = 2 * in_word, stage = units * unit_depth;
  using Unit = Vector<std::uint32_t, 4>;

  Unit pairs[Size / 2][units];

  /// Unit q of pair p is at pairs[p][q ^ order(p)], so that neighbouring pairs do not meet in a bank.
  CROCHET_DEVICE_INLINE static int order(int pair) { return pair % 2 * 5; }

  /// Stores a unit of element(row, depth) of the pair.
  template <class Block, bool Left, class Element>
  CROCHET_DEVICE_INLINE static void store(Unit& to, const Element& element) {
    const auto word = [&](int row, int w) {
      if constexpr (P == MatmulPrecision::bf16) {
        return Block::round_bf16(element(row, 2 * w), element(row, 2 * w + 1));
      } else {
        return Block::round_tf32(element(row, w));
      }
    };
    to = Left ? Unit{{word(0, 0), word(1, 0), word(0, 1), word(1, 1)}}
              : Unit{{word(0, 0), word(0, 1), word(1, 0), word(1, 1)}};
  }
};

template <class O>
CROCHET_DEVICE_NOINLINE float element_of(const O& operand, const typename O::Part& row, int k, int end) {
  if (k >= end) return 0;
  const auto from = operand.at(row, operand.step(k));
  return from.exists ? *from.at : 0;
}

/// Loads the stages of an operand into registers, and stores them as words. Of an operand along the depth a thread has
/// two rows and two units; else it has four rows and one unit. Operands without vectors are loaded when they are
/// stored.
template <MatmulPrecision P, int Size, bool Left, class O>
class TensorLoader {
  using Words = TensorWords<P, Size>;
  using Group = Vector<float, vector_elements>;
  static constexpr int threads = 256, group = vector_elements, depth = Words::unit_depth;

 public:
  CROCHET_DEVICE_INLINE TensorLoader(int thread, const O& operand, int first)
      : operand_(operand),
        first_(first),
        row_(operand.along_depth ? thread / 4 * 2 : thread / 8 * group),
        unit_(operand.along_depth ? thread % 4 * 2 : thread % 8),
        rows_{operand_.row(row_of(0)), operand_.row(row_of(1))} {}

  CROCHET_DEVICE_INLINE void load(int k0, int end) {
    if (!operand_.vectors) return;
    const bool lines = operand_.along_depth;  // one loop for both kinds: its code is long
    CROCHET_UNROLL
    for (int g = 0; g < depth; ++g) {
      const int k = k0 + unit_ * depth + (lines ? g % (depth / 2) * group : g);
      typename O::Part row = rows_[0];
      if (g >= depth / 2 && lines) row = rows_[1];
      load_group(row, k, end, g * group);
    }
  }
  template <class Block>
  CROCHET_DEVICE_INLINE void store(const Block& block, Words& to, int k0, int end) const {
    if (!operand_.vectors) {
      store_elements<Block>(block.thread(), operand_, to, first_, k0, end);
    } else if (row_ < Size) {
      store_vectors<Block>(to);
    }
  }

 private:
  CROCHET_DEVICE_INLINE int row_of(int i) const { return row_ < Size ? first_ + row_ + i : INT32_MAX; }
  CROCHET_DEVICE_INLINE void load_group(const typename O::Part& row, int k, int end, int at) {
    const auto from = operand_.at(row, operand_.step(k));
    const Group x = k < end && from.exists ? *reinterpret_cast<const Group*>(from.at) : Group{};
    CROCHET_UNROLL
    for (int e = 0; e < group; ++e) next_[at + e] = x.of[e];
  }
  template <class Block>
  CROCHET_DEVICE_INLINE void store_vectors(Words& to) const {
    const int pair = row_ / 2;
    if (operand_.along_depth) {
      CROCHET_UNROLL
      for (int u = 0; u < 2; ++u) {
        Words::template store<Block, Left>(to.pairs[pair][(unit_ + u) ^ Words::order(pair)],
                                           [&](int r, int d) { return next_[(2 * r + u) * depth + d]; });
      }
    } else {
      CROCHET_UNROLL
      for (int p = 0; p < 2; ++p) {  // `pair` is even
        Words::template store<Block, Left>(to.pairs[pair + p][unit_ ^ Words::order(p)],
                                           [&](int r, int d) { return next_[d * group + 2 * p + r]; });
      }
    }
  }
  /// Not inlined: the registers of the loop are for operands with vectors.
  template <class Block>
  CROCHET_DEVICE_NOINLINE static void store_elements(int thread, typename O::Kept operand, Words& to, int first, int k0,
                                                     int end) {
    const int pair = thread % (Size / 2);
    const typename O::Part rows[2] = {operand.row(first + 2 * pair), operand.row(first + 2 * pair + 1)};
    CROCHET_DEVICE_UNROLL(1)
    for (int u = thread / (Size / 2); u < Words::units; u += threads / (Size / 2)) {
      Words::template store<Block, Left>(to.pairs[pair][u ^ Words::order(pair)], [&](int r, int d) {
        return element_of(operand, rows[r], k0 + u * depth + d, end);
      });
    }
  }

  typename O::Kept operand_;
  int first_, row_, unit_;
  typename O::Part rows_[2];
  float next_[4 * depth]{};
};

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
