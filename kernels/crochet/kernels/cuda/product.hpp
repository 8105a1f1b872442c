// SPDX-License-Identifier: Apache-2.0
// Tiled products on a device: a block computes a tile of the result from tiles of both operands in shared memory. A
// deep product with few tiles is divided along its depth as well; the block that finishes a tile last joins the parts
// in order.
#pragma once
#include <crochet/kernels/cuda/tensor_tile.hpp>

namespace crochet::cuda {

namespace detail {

/// What a unit computes: a tile, or a part of its depth, of product number `which`.
struct ProductUnit {
  int tile, split, which, i0, j0;
};
CROCHET_DEVICE_NOINLINE inline ProductUnit product_unit(const ProductParts& parts, int unit) {
  const int tile = unit / parts.splits, tiles = parts.rows * parts.columns, in_one = tile % tiles;
  return {tile, unit % parts.splits, tile / tiles, in_one / parts.columns * parts.tile,
          in_one % parts.columns * parts.tile};
}
CROCHET_DEVICE_NOINLINE inline ProductParts product_parts(int m, int n, int depth, int count, int element_bytes) {
  return ProductParts::of(m, n, depth, count, element_bytes);
}

/// The results of a tile: sums over `splits` tables of tile * tile numbers. No results, if the block has none to pass
/// on.
template <class T>
struct TileResults {
  const T* data = nullptr;
  int splits = 0, size = 0;

  CROCHET_DEVICE_INLINE T operator()(int i) const {
    T sum = data[i];
    CROCHET_DEVICE_UNROLL(1)
    for (int k = 1; k < splits; ++k) sum += data[i + k * size];
    return sum;
  }
  template <int U>
  CROCHET_DEVICE_INLINE void load(T (&results)[U]) const {
    using Group = Vector<T, U>;
    Group sum = *reinterpret_cast<const Group*>(data);
    CROCHET_DEVICE_UNROLL(4)
    for (int k = 1; k < splits; ++k) {
      const Group part = *reinterpret_cast<const Group*>(data + k * size);
      CROCHET_UNROLL
      for (int u = 0; u < U; ++u) sum.of[u] += part.of[u];
    }
    CROCHET_UNROLL
    for (int u = 0; u < U; ++u) results[u] = sum.of[u];
  }
  CROCHET_DEVICE_INLINE TileResults from(int i) const { return {data + i, splits, size}; }
};

/// Computes a tile of `size` rows and columns to the table `to`.
template <class T, class Block, class A, class B>
CROCHET_DEVICE_INLINE void compute_tile(Block& block, int size, const A& a, const B& b, int i0, int j0, int from,
                                        int end, T* to) {
  if (size == ProductParts::small_tile) {
    TileOf<T, Block, ProductParts::small_tile>::type::compute(block, a, b, i0, j0, from, end, to);
  } else if (sizeof(T) > 4 || size == ProductParts::medium_tile) {
    TileOf<T, Block, ProductParts::medium_tile>::type::compute(block, a, b, i0, j0, from, end, to);
  } else if constexpr (sizeof(T) <= 4) {
    TileOf<T, Block, ProductParts::large_tile>::type::compute(block, a, b, i0, j0, from, end, to);
  }
}

/// The table of a block's results in shared memory.
template <class T, int Size, class Block>
CROCHET_DEVICE_INLINE T* shared_results(Block& block) {
  struct alignas(16) Table {
    T of[Size * Size];
  };
  return block.template shared<Table>().of;
}

/// Computes a unit.
template <class T, class Block, class A, class B>
CROCHET_DEVICE_NOINLINE TileResults<T> compute_unit(Block& block, const Call& call, const ProductParts& parts,
                                                    const ProductUnit& unit, int depth, const A& a, const B& b) {
  const int from = unit.split * parts.depth_each, last = from + parts.depth_each, end = last < depth ? last : depth;
  const int table = parts.splits == 1 ? block.block() : unit.tile * parts.splits;
  T* const first = parts.in_shared_memory() ? shared_results<T, ProductParts::medium_tile>(block)
                                            : call.scratch<T>() + std::int64_t{1} * table * parts.size();
  compute_tile(block, parts.tile, a, b, unit.i0, unit.j0, from, end,
               first + std::int64_t{1} * unit.split * parts.size());
  if (parts.splits > 1 && !block.arrive(call.ticket(unit.tile), parts.splits)) return {};
  return {first, parts.splits, parts.size()};
}

}  // namespace detail

/// Computes `count` products [m, depth] x [depth, n]. a(p) and b(p) are the operands of product p
/// (product_operand.hpp). Calls done(p, i, j, result) for groups of vector_elements neighbouring results result(0), ...
/// of (i, j), ..., some of which may lie beyond the last column.
template <class T, class Block, class A, class B, class Done>
CROCHET_DEVICE_INLINE void products(Block& block, const Call& call, int m, int n, int depth, int count, const A& a,
                                    const B& b, const Done& done) {
  const ProductParts parts = detail::product_parts(m, n, depth, count, sizeof(T));
  constexpr int wide = detail::vector_elements;
  each_unit(block, call.first(), parts.all() * parts.splits, [&](int number) {
    const detail::ProductUnit unit = detail::product_unit(parts, number);
    const auto results = detail::compute_unit<T>(block, call, parts, unit, depth, a(unit.which), b(unit.which));
    if (results.splits == 0) return;
    CROCHET_DEVICE_UNROLL(1)
    for (int e = wide * block.thread(); e < parts.size(); e += wide * Block::threads) {
      const int i = unit.i0 + e / parts.tile, j = unit.j0 + e % parts.tile;
      if (i < m && j < n) done(unit.which, i, j, results.from(e));
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
      T* const results = detail::shared_results<T, size>(block);
      detail::TileOf<T, Block, size>::type::compute(block, a, b, i0, j0, 0, depth, results);
      CROCHET_DEVICE_UNROLL(1)
      for (int e = block.thread(); e < size * size; e += Block::threads) {
        const int i = i0 + e / size, j = j0 + e % size;
        if (i < m && j < n) put(i, j, results[e]);
      }
    }
  }
  block.sync();
}

}  // namespace crochet::cuda
