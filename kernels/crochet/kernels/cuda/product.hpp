// SPDX-License-Identifier: Apache-2.0
// Tiled products on a device: a block computes a tile of the result from tiles of both operands in shared memory, in two
// stages. A deep product with few tiles is divided along its depth as well; the block that finishes a tile last joins
// the parts in order. The division depends on the sizes only, so results are the same bits on any number of blocks.
#pragma once
#include <crochet/kernels/cuda/call.hpp>
#include <crochet/kernels/cuda/room.hpp>

namespace crochet::cuda {

/// How a product [m, depth] x [depth, n] is divided. `count` products of the same sizes are divided alike.
struct ProductParts {
  int tile;          ///< rows and columns of a tile
  int rows, columns; ///< tiles of one result
  int count;
  int splits, depth_each;  ///< parts of the depth

  static constexpr int small_tile = 32, large_tile = 64, stage = 16;

  CROCHET_ALWAYS_INLINE static constexpr ProductParts of(int m, int n, int depth, int count = 1) {
    constexpr int enough = 128;  // about the number of multiprocessors of a large GPU
    const int large = tiles(m, large_tile) * tiles(n, large_tile) * count;
    const int tile = large >= enough ? large_tile : small_tile;
    const int units = tiles(m, tile) * tiles(n, tile) * count;
    int splits = units < 1 ? 1 : enough / units;
    const int most = depth / (4 * stage);
    splits = splits > most ? most : splits;
    splits = splits < 1 ? 1 : splits;
    const int each = tiles(tiles(depth, splits), stage) * stage;
    return {tile, tiles(m, tile), tiles(n, tile), count, each == 0 ? 1 : tiles(depth, each), each};
  }
  /// The number of tiles.
  CROCHET_ALWAYS_INLINE constexpr int all() const { return rows * columns * count; }
  CROCHET_ALWAYS_INLINE constexpr Room room(std::int64_t element_bytes) const {
    if (splits == 1) return {};
    return {std::int64_t{1} * all() * splits * tile * tile * element_bytes, all()};
  }

 private:
  CROCHET_ALWAYS_INLINE static constexpr int tiles(int n, int each) { return n / each + (n % each != 0 ? 1 : 0); }
};

namespace detail {

/// A tile of Size x Size results. Each thread computes Each x Each of them: rows ty, ty + 16, ...; columns Each tx + c.
template <class T, int Size>
class ProductTile {
  static constexpr int across = 16, each = Size / across, stage = ProductParts::stage, threads = 256;
  static constexpr int loads = Size * stage / threads;  // elements of an operand that a thread loads a stage
  struct Stage {
    T a[stage][Size + 4], b[stage][Size + 4];
  };
  struct Shared {
    Stage stages[2];
  };
  static_assert(sizeof(Shared) <= shared_bytes);

 public:
  /// Computes rows i0 and columns j0 on, over depth [from, to). A and B: T at(int row, int column), 0 where there is no
  /// element, and `by_columns`, whether neighbouring columns are neighbours in memory.
  template <class Block, class A, class B>
  CROCHET_DEVICE_INLINE ProductTile(Block& block, const A& a, const B& b, int i0, int j0, int from, int to)
      : tx_(block.thread() % across), ty_(block.thread() / across) {
    static_assert(Block::threads == threads);
    Shared& shared = block.template shared<Shared>();
    T next_a[loads], next_b[loads];
    load(block, a, b, i0, j0, from, to, next_a, next_b);
    int now = 0;
    block.sync();  // the shared memory may still be read for an earlier tile
    for (int k = from; k < to; k += stage) {
      store(block, shared.stages[now], a.by_columns, b.by_columns, next_a, next_b);
      block.sync();
      if (k + stage < to) load(block, a, b, i0, j0, k + stage, to, next_a, next_b);
      multiply(shared.stages[now]);
      now ^= 1;
    }
  }

  /// Calls f(row of the tile, first column of the tile, results) for each of this thread's rows.
  template <class F>
  CROCHET_DEVICE_INLINE void each_row(F f) {
    CROCHET_UNROLL
    for (int r = 0; r < each; ++r) f(ty_ + r * across, tx_ * each, c_[r]);
  }
  static constexpr int columns_each = each;

 private:
  /// The row and depth of this thread's load number l of an operand's stage; lanes follow the memory.
  template <class Block>
  CROCHET_DEVICE_INLINE static void place(const Block& block, int l, bool along_depth, int& row, int& k) {
    const int at = l * threads + block.thread();
    row = along_depth ? at / stage : at % Size;
    k = along_depth ? at % stage : at / Size;
  }
  template <class Block, class A, class B>
  CROCHET_DEVICE_INLINE static void load(const Block& block, const A& a, const B& b, int i0, int j0, int k0, int to,
                                         T (&next_a)[loads], T (&next_b)[loads]) {
    CROCHET_UNROLL
    for (int l = 0; l < loads; ++l) {
      int row = 0, k = 0;
      place(block, l, a.by_columns, row, k);
      next_a[l] = k0 + k < to ? a.at(i0 + row, k0 + k) : T(0);
      place(block, l, !b.by_columns, row, k);
      next_b[l] = k0 + k < to ? b.at(k0 + k, j0 + row) : T(0);
    }
  }
  template <class Block>
  CROCHET_DEVICE_INLINE static void store(const Block& block, Stage& s, bool a_by_columns, bool b_by_columns,
                                          const T (&next_a)[loads], const T (&next_b)[loads]) {
    CROCHET_UNROLL
    for (int l = 0; l < loads; ++l) {
      int row = 0, k = 0;
      place(block, l, a_by_columns, row, k);
      s.a[k][row] = next_a[l];
      place(block, l, !b_by_columns, row, k);
      s.b[k][row] = next_b[l];
    }
  }
  CROCHET_DEVICE_INLINE void multiply(const Stage& s) {
    CROCHET_UNROLL
    for (int k = 0; k < stage; ++k) {
      T x[each], y[each];
      CROCHET_UNROLL
      for (int r = 0; r < each; ++r) x[r] = s.a[k][ty_ + r * across];
      CROCHET_UNROLL
      for (int c = 0; c < each; ++c) y[c] = s.b[k][tx_ * each + c];
      CROCHET_UNROLL
      for (int r = 0; r < each; ++r) {
        CROCHET_UNROLL
        for (int c = 0; c < each; ++c) c_[r][c] += x[r] * y[c];
      }
    }
  }

  int tx_, ty_;
  T c_[each][each]{};
};

/// One unit: a tile, or a part of its depth.
template <class T, int Size, class Block, class A, class B, class Done>
CROCHET_DEVICE_INLINE void product_unit(Block& block, const Call& call, const ProductParts& parts, int unit, int m,
                                        int n, int depth, const A& a, const B& b, const Done& done) {
  const int tile = unit / parts.splits, split = unit % parts.splits;
  const int in_one = tile % (parts.rows * parts.columns), which = tile / (parts.rows * parts.columns);
  const int i0 = in_one / parts.columns * Size, j0 = in_one % parts.columns * Size;
  const int from = split * parts.depth_each, last = from + parts.depth_each;
  ProductTile<T, Size> mine(block, a(which), b(which), i0, j0, from, last < depth ? last : depth);
  constexpr int each = ProductTile<T, Size>::columns_each;
  const auto pass = [&](int r, int c, const T(&results)[each]) {
    if (i0 + r < m && j0 + c < n) done(which, i0 + r, j0 + c, n, results);
  };
  if (parts.splits == 1) {
    mine.each_row(pass);
    return;
  }
  T* const partial = call.scratch<T>() + std::int64_t{1} * tile * parts.splits * Size * Size;
  mine.each_row([&](int r, int c, const T(&results)[each]) {
    T* const to = partial + (split * Size + r) * Size + c;
    CROCHET_UNROLL
    for (int u = 0; u < each; ++u) to[u] = results[u];
  });
  if (!block.arrive(call.ticket(tile), parts.splits)) return;
  mine.each_row([&](int r, int c, T(&results)[each]) {
    CROCHET_UNROLL
    for (int u = 0; u < each; ++u) results[u] = T(0);
    for (int k = 0; k < parts.splits; ++k) {
      CROCHET_UNROLL
      for (int u = 0; u < each; ++u) results[u] += partial[(k * Size + r) * Size + c + u];
    }
    pass(r, c, results);
  });
}

}  // namespace detail

/// Computes `count` products [m, depth] x [depth, n]. a(p) and b(p) are the operands of product p. Calls done(p, i, j,
/// n, results) for each group of neighbouring results (i, j), ..., of which those before column n exist.
template <class T, class Block, class A, class B, class Done>
CROCHET_DEVICE_INLINE void products(Block& block, const Call& call, int m, int n, int depth, int count, const A& a,
                                    const B& b, const Done& done) {
  const ProductParts parts = ProductParts::of(m, n, depth, count);
  each_unit(block, call.first(), parts.all() * parts.splits, [&](int unit) {
    if (parts.tile == ProductParts::large_tile) {
      detail::product_unit<T, ProductParts::large_tile>(block, call, parts, unit, m, n, depth, a, b, done);
    } else {
      detail::product_unit<T, ProductParts::small_tile>(block, call, parts, unit, m, n, depth, a, b, done);
    }
  });
}

/// Computes one product [m, depth] x [depth, n] on this block alone. Calls put(i, j, result) for each result. Begins and
/// ends with a barrier of the block.
template <class T, class Block, class A, class B, class Put>
CROCHET_DEVICE_INLINE void block_product(Block& block, int m, int n, int depth, const A& a, const B& b,
                                         const Put& put) {
  constexpr int size = ProductParts::small_tile;
  block.sync();
  for (int i0 = 0; i0 < m; i0 += size) {
    for (int j0 = 0; j0 < n; j0 += size) {
      detail::ProductTile<T, size> tile(block, a, b, i0, j0, 0, depth);
      tile.each_row([&](int r, int c, const auto& results) {
        CROCHET_UNROLL
        for (int u = 0; u < tile.columns_each; ++u) {
          if (i0 + r < m && j0 + c + u < n) put(i0 + r, j0 + c + u, results[u]);
        }
      });
    }
  }
  block.sync();
}

/// A matrix in memory, or its transpose, as an operand of products.
template <class T>
struct MatrixOperand {
  const T* data;
  int rows, columns;  ///< of the operand
  int pitch;          ///< the distance of rows of the stored matrix
  bool by_columns;

  CROCHET_DEVICE_INLINE static MatrixOperand of(const T* data, int stored_rows, int stored_columns, bool transposed) {
    return transposed ? MatrixOperand{data, stored_columns, stored_rows, stored_columns, false}
                      : MatrixOperand{data, stored_rows, stored_columns, stored_columns, true};
  }
  CROCHET_DEVICE_INLINE T at(int i, int j) const {
    if (i >= rows || j >= columns) return T(0);
    return data[by_columns ? std::int64_t{1} * i * pitch + j : std::int64_t{1} * j * pitch + i];
  }
};

}  // namespace crochet::cuda
