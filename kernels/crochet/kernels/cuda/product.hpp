// SPDX-License-Identifier: Apache-2.0
// Tiled products on a device: a block computes a tile of the result from tiles of both operands in shared memory, in
// two stages. A deep product with few tiles is divided along its depth as well; the block that finishes a tile last
// joins the parts in order. The division depends on the sizes only, so results are the same bits on any number of
// blocks.
#pragma once
#include <crochet/kernels/cuda/loop.hpp>
#include <crochet/kernels/cuda/room.hpp>

namespace crochet::cuda {

/// How a product [m, depth] x [depth, n] is divided. `count` products of the same sizes are divided alike.
struct ProductParts {
  int tile;           ///< rows and columns of a tile
  int rows, columns;  ///< tiles of one result
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

/// A tile of Size x Size results in shared memory, and the stages of its operands. Each thread computes Each x Each
/// results: rows ty, ty + 16, ...; columns Each tx, ...
template <class T, int Size>
class ProductTile {
  static constexpr int across = 16, each = Size / across, stage = ProductParts::stage, threads = 256;
  static constexpr int loads = Size * stage / threads;  // elements of an operand that a thread loads a stage
  struct Stage {
    T a[stage][Size + 4], b[stage][Size + 4];
  };
  union Shared {
    Stage stages[2];
    T results[Size][Size];
  };
  static_assert(sizeof(Shared) <= shared_bytes);

 public:
  /// Computes rows i0 and columns j0 on, over depth [from, to), to the shared memory; it ends with a barrier. A and B:
  /// T at(int row, int column), 0 where there is no element, and `by_columns`, whether neighbouring columns are
  /// neighbours in memory. Not inlined: the products of a plan share it.
  template <class Block, class A, class B>
  CROCHET_DEVICE_NOINLINE static void compute(Block& block, const A& a, const B& b, int i0, int j0, int from, int to) {
    static_assert(Block::threads == threads);
    Shared& shared = block.template shared<Shared>();
    const int tx = block.thread() % across, ty = block.thread() / across;
    T next_a[loads], next_b[loads], c[each][each]{};
    load(block, a, b, i0, j0, from, to, next_a, next_b);
    int now = 0;
    block.sync();  // the shared memory may still be read for an earlier tile
    CROCHET_DEVICE_UNROLL(1)
    for (int k = from; k < to; k += stage) {
      store(block, shared.stages[now], a.by_columns, b.by_columns, next_a, next_b);
      block.sync();
      if (k + stage < to) load(block, a, b, i0, j0, k + stage, to, next_a, next_b);
      multiply(shared.stages[now], tx, ty, c);
      now ^= 1;
    }
    block.sync();
    CROCHET_UNROLL
    for (int r = 0; r < each; ++r) {
      CROCHET_UNROLL
      for (int k = 0; k < each; ++k) shared.results[ty + r * across][tx * each + k] = c[r][k];
    }
    block.sync();
  }
  /// The results of compute(), row-major.
  template <class Block>
  CROCHET_DEVICE_INLINE static T* results(Block& block) {
    return block.template shared<Shared>().results[0];
  }

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
  CROCHET_DEVICE_INLINE static void multiply(const Stage& s, int tx, int ty, T (&c)[each][each]) {
    CROCHET_DEVICE_UNROLL(4)
    for (int k = 0; k < stage; ++k) {
      T x[each], y[each];
      CROCHET_UNROLL
      for (int r = 0; r < each; ++r) x[r] = s.a[k][ty + r * across];
      CROCHET_UNROLL
      for (int j = 0; j < each; ++j) y[j] = s.b[k][tx * each + j];
      CROCHET_UNROLL
      for (int r = 0; r < each; ++r) {
        CROCHET_UNROLL
        for (int j = 0; j < each; ++j) c[r][j] += x[r] * y[j];
      }
    }
  }
};

/// What a unit computes: a tile, or a part of its depth, of product number `which`.
struct ProductUnit {
  int tile, split, which, i0, j0;
};
CROCHET_DEVICE_NOINLINE inline ProductUnit product_unit(const ProductParts& parts, int unit) {
  const int tile = unit / parts.splits, tiles = parts.rows * parts.columns, in_one = tile % tiles;
  return {tile, unit % parts.splits, tile / tiles, in_one / parts.columns * parts.tile,
          in_one % parts.columns * parts.tile};
}
CROCHET_DEVICE_NOINLINE inline ProductParts product_parts(int m, int n, int depth, int count) {
  return ProductParts::of(m, n, depth, count);
}

/// The results of a tile: sums over `splits` tables of tile * tile numbers. No results, if the block has none to pass
/// on.
template <class T>
struct TileResults {
  const T* data = nullptr;
  int splits = 0;

  CROCHET_DEVICE_INLINE T at(int i, int size) const {
    T sum = data[i];
    CROCHET_DEVICE_UNROLL(1)
    for (int k = 1; k < splits; ++k) sum += data[i + k * size];
    return sum;
  }
};
/// Computes a unit.
template <class T, class Block, class A, class B>
CROCHET_DEVICE_NOINLINE TileResults<T> compute_unit(Block& block, const Call& call, const ProductParts& parts,
                                                    const ProductUnit& unit, int depth, const A& a, const B& b) {
  const int from = unit.split * parts.depth_each, last = from + parts.depth_each, to = last < depth ? last : depth;
  const T* results = nullptr;
  if (parts.tile == ProductParts::large_tile) {
    ProductTile<T, ProductParts::large_tile>::compute(block, a, b, unit.i0, unit.j0, from, to);
    results = ProductTile<T, ProductParts::large_tile>::results(block);
  } else {
    ProductTile<T, ProductParts::small_tile>::compute(block, a, b, unit.i0, unit.j0, from, to);
    results = ProductTile<T, ProductParts::small_tile>::results(block);
  }
  if (parts.splits == 1) return {results, 1};
  const int size = parts.tile * parts.tile;
  T* const partial = call.scratch<T>() + std::int64_t{1} * unit.tile * parts.splits * size;
  CROCHET_DEVICE_UNROLL(1)
  for (int e = block.thread(); e < size; e += Block::threads) partial[unit.split * size + e] = results[e];
  if (!block.arrive(call.ticket(unit.tile), parts.splits)) return {};
  return {partial, parts.splits};
}

}  // namespace detail

/// Computes `count` products [m, depth] x [depth, n]. a(p) and b(p) are the operands of product p. Calls done(p, i, j,
/// result) for groups of vector_elements neighbouring results result(0), ... of (i, j), ..., some of which may lie
/// beyond the last column.
template <class T, class Block, class A, class B, class Done>
CROCHET_DEVICE_INLINE void products(Block& block, const Call& call, int m, int n, int depth, int count, const A& a,
                                    const B& b, const Done& done) {
  const ProductParts parts = detail::product_parts(m, n, depth, count);
  constexpr int wide = detail::vector_elements;
  each_unit(block, call.first(), parts.all() * parts.splits, [&](int number) {
    const detail::ProductUnit unit = detail::product_unit(parts, number);
    const auto results = detail::compute_unit<T>(block, call, parts, unit, depth, a(unit.which), b(unit.which));
    if (results.splits == 0) return;
    const int size = parts.tile * parts.tile;
    CROCHET_DEVICE_UNROLL(1)
    for (int e = wide * block.thread(); e < size; e += wide * Block::threads) {
      const int i = unit.i0 + e / parts.tile, j = unit.j0 + e % parts.tile;
      if (i < m && j < n) done(unit.which, i, j, [&](int u) { return results.at(e + u, size); });
    }
  });
}

/// Computes one product [m, depth] x [depth, n] on this block alone. Calls put(i, j, result) for each result. Begins
/// and ends with a barrier of the block.
template <class T, class Block, class A, class B, class Put>
CROCHET_DEVICE_INLINE void block_product(Block& block, int m, int n, int depth, const A& a, const B& b,
                                         const Put& put) {
  constexpr int size = ProductParts::small_tile;
  block.sync();
  CROCHET_DEVICE_UNROLL(1)
  for (int i0 = 0; i0 < m; i0 += size) {
    CROCHET_DEVICE_UNROLL(1)
    for (int j0 = 0; j0 < n; j0 += size) {
      detail::ProductTile<T, size>::compute(block, a, b, i0, j0, 0, depth);
      const T* const results = detail::ProductTile<T, size>::results(block);
      CROCHET_DEVICE_UNROLL(1)
      for (int e = block.thread(); e < size * size; e += Block::threads) {
        const int i = i0 + e / size, j = j0 + e % size;
        if (i < m && j < n) put(i, j, results[e]);
      }
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
