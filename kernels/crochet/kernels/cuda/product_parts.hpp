// SPDX-License-Identifier: Apache-2.0
// How a product is divided among the blocks of a grid. The division depends on the sizes only, so results are the same
// bits on any number of blocks.
#pragma once
#include <crochet/kernels/cuda/room.hpp>

namespace crochet::cuda {

/// The parts of a product [m, depth] x [depth, n]. `count` products of the same sizes are divided alike.
struct ProductParts {
  int tile;           ///< rows and columns of a tile
  int rows, columns;  ///< tiles of one result
  int count;
  int splits, depth_each;  ///< parts of the depth

  static constexpr int small_tile = 32, medium_tile = 64, large_tile = 128, stage = 16;

  /// The largest tile of which there are enough for a large GPU, and that is not half empty. Results of 8 bytes have no
  /// large tile: a thread could not keep 64 of them in registers.
  CROCHET_ALWAYS_INLINE static constexpr ProductParts of(int m, int n, int depth, int count, int element_bytes) {
    constexpr int enough = 128;  // about the number of multiprocessors of a large GPU
    int tile = element_bytes > 4 ? medium_tile : large_tile;
    const int narrow = m < n ? m : n;
    while (tile > small_tile && (tile / 2 >= narrow || tiles(m, tile) * tiles(n, tile) * count < enough)) tile /= 2;
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
  /// The elements of a tile.
  CROCHET_ALWAYS_INLINE constexpr int size() const { return tile * tile; }
  /// Whether results fit the shared memory, together with the operands.
  CROCHET_ALWAYS_INLINE constexpr bool in_shared_memory() const { return splits == 1 && tile < large_tile; }
  /// The tables of results in the scratch memory: of each part or, if the depth is not divided, of each block.
  CROCHET_ALWAYS_INLINE constexpr Room room(std::int64_t element_bytes, int blocks) const {
    if (in_shared_memory()) return {0, 0, tile};
    if (splits == 1) return {element_bytes * blocks * size(), 0, tile};
    return {element_bytes * all() * splits * size(), all(), tile};
  }

 private:
  CROCHET_ALWAYS_INLINE static constexpr int tiles(int n, int each) { return n / each + (n % each != 0 ? 1 : 0); }
};

/// The memory of a product of a step.
CROCHET_ALWAYS_INLINE constexpr Room product_room(const Sizes& s, int m, int n, int depth, int count = 1) {
  return ProductParts::of(m, n, depth, count, static_cast<int>(s.element_bytes)).room(s.element_bytes, s.blocks);
}

}  // namespace crochet::cuda
