// SPDX-License-Identifier: Apache-2.0
// An operand of products on tensor cores: its stages as words (block.hpp) in shared memory, and how they get there.
#pragma once
#include <crochet/kernels/cuda/product_operand.hpp>

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

/// An element of an operand; 0 beyond the depth `end`.
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

}  // namespace crochet::cuda::detail
