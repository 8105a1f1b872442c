// SPDX-License-Identifier: Apache-2.0
// Tiled products on a device: a block computes a tile of the result from tiles of both operands in shared memory. A
// deep product with few tiles is divided along its depth as well; the block that finishes a tile last joins the parts
// in order.
#pragma once
#include <crochet/kernels/cuda/tensor_tile.hpp>

namespace crochet::cuda {

namespace detail {

CROCHET_DEVICE_NOINLINE inline ProductParts product_parts(int m, int n, int depth, int count, int element_bytes) {
  return ProductParts::of(m, n, depth, count, element_bytes);
}

/// The results of a unit: a table of a tile of product number `which`, from row i0 and column j0 on. No table, if the
/// block has no results to pass on.
template <class T>
struct TileResults {
  const T* table;
  int which, i0, j0;
};

/// Computes a tile of `size` rows and columns to the table `to`.
template <class T, class Block, class A, class B>
CROCHET_DEVICE_INLINE void compute_tile(Block& block, int size, const A& a, const B& b, int i0, int j0, int from,
                                        int end, T* to) {
  constexpr int small = ProductParts::small_tile, medium = ProductParts::medium_tile, large = ProductParts::large_tile;
  constexpr bool has_large = sizeof(T) <= 4 && Block::largest_tile >= large;
  if constexpr (has_large) {
    if (size == large) return TileOf<T, Block, large>::type::compute(block, a, b, i0, j0, from, end, to);
  }
  if constexpr (Block::largest_tile >= medium) {
    if (size == medium) return TileOf<T, Block, medium>::type::compute(block, a, b, i0, j0, from, end, to);
  }
  TileOf<T, Block, small>::type::compute(block, a, b, i0, j0, from, end, to);
}

/// The table of a block's results in shared memory.
template <class T, int Size, class Block>
CROCHET_DEVICE_INLINE T* shared_results(Block& block) {
  struct alignas(16) Table {
    T of[Size * Size];
  };
  return block.template shared<Table>().of;
}

/// Joins the parts of the depth: `splits` tables, one behind the other. A thread joins the elements that it passes on.
template <class T, class Block>
CROCHET_DEVICE_INLINE const T* joined_parts(Block& block, const ProductParts& parts, const T* first) {
  static_assert(Block::threads * vector_elements == ProductParts::small_tile * ProductParts::small_tile);
  using Group = Vector<T, vector_elements>;
  T* const table = shared_results<T, ProductParts::small_tile>(block);
  const int at = vector_elements * block.thread();
  Group sum = *reinterpret_cast<const Group*>(first + at);
  CROCHET_DEVICE_UNROLL(4)
  for (int k = 1; k < parts.splits; ++k) {
    const Group part = *reinterpret_cast<const Group*>(first + at + k * parts.size());
    CROCHET_UNROLL
    for (int u = 0; u < vector_elements; ++u) sum.of[u] += part.of[u];
  }
  *reinterpret_cast<Group*>(table + at) = sum;
  return table;
}

/// Computes a unit: a tile, or a part of its depth. Not inlined, as all of a product that does not depend on the
/// program behind it: it is compiled once for all steps that multiply such factors.
template <class T, class Block, class Factors>
CROCHET_DEVICE_NOINLINE TileResults<T> compute_unit(Block& block, const Call& call, const Factors& factors,
                                                    const ProductParts& parts, int unit) {
  const int tile = unit / parts.splits, split = unit - tile * parts.splits, tiles = parts.rows * parts.columns;
  const int which = tile / tiles, in_one = tile - which * tiles, row = in_one / parts.columns;
  TileResults<T> results{nullptr, which, row * parts.tile, (in_one - row * parts.columns) * parts.tile};
  const int from = split * parts.depth_each, last = from + parts.depth_each;
  const int end = last < factors.depth ? last : factors.depth;
  const int table = parts.splits == 1 ? block.block() : tile * parts.splits;
  T* const first = parts.in_shared_memory() ? shared_results<T, ProductParts::medium_tile>(block)
                                            : call.scratch<T>() + std::int64_t{1} * table * parts.size();
  compute_tile(block, parts.tile, factors.left(which), factors.right(which), results.i0, results.j0, from, end,
               first + std::int64_t{1} * split * parts.size());
  if (parts.splits == 1) {
    results.table = first;
  } else if (block.arrive(call.ticket(tile), parts.splits)) {
    results.table = joined_parts(block, parts, first);
  }
  return results;
}

/// Passes the results of a tile to the epilogue. Not inlined, so that a step needs few registers while a tile is
/// computed, which takes nearly all.
template <class T, class Block, class Epilogue>
CROCHET_DEVICE_NOINLINE void pass_on(const Block& block, int tile, int m, int n, const TileResults<T>& results,
                                     const Epilogue& epilogue) {
  const Epilogue own = epilogue;  // in registers: stores of results cannot change it
  CROCHET_DEVICE_UNROLL(1)
  for (int e = vector_elements * block.thread(); e < tile * tile; e += vector_elements * Block::threads) {
    const int row = e / tile, i = results.i0 + row, j = results.j0 + e - row * tile;
    if (i < m && j < n) own.template elements<vector_elements>(results.which * m + i, j, n, results.table + e);
  }
}

}  // namespace detail

/// The sizes of products, and operands that all of them share. Operations derive classes that read their arguments, in
/// constructors that are not inlined.
template <class A, class B>
struct Factors {
  using Shared = Factors;  ///< products of the same type share code
  int m, n, depth;
  A a;
  B b;
  static constexpr int count = 1;

  CROCHET_DEVICE_INLINE const A& left(int) const { return a; }
  CROCHET_DEVICE_INLINE const B& right(int) const { return b; }

 protected:
  /// For constructors: a copy of what has been computed in registers. Computed in place, each argument would be read
  /// again behind each member that is written.
  CROCHET_DEVICE_INLINE static const Factors& copied(const Factors& all) { return all; }
};

/// Computes `factors.count` products [m, depth] x [depth, n], of factors.m, n and depth. factors.left(p) and .right(p)
/// are the operands of product p (product_operand.hpp). Passes the results to epilogue.elements() (epilogue.hpp); row i
/// of product p is row p m + i.
template <class T, class Block, class Factors, class Epilogue>
CROCHET_DEVICE_INLINE void products(Block& block, const Call& call, const Factors& factors, const Epilogue& epilogue) {
  const ProductParts parts =
      detail::product_parts(factors.m, factors.n, factors.depth, factors.count, static_cast<int>(sizeof(T)));
  each_unit(block, call.first(), parts.all() * parts.splits, [&](int unit) {
    const detail::TileResults<T> results =
        detail::compute_unit<T>(block, call, static_cast<const typename Factors::Shared&>(factors), parts, unit);
    if (results.table != nullptr) detail::pass_on(block, parts.tile, factors.m, factors.n, results, epilogue);
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
