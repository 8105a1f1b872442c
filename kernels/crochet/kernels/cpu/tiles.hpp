// SPDX-License-Identifier: Apache-2.0
// Tiles: matrix products by vector extensions, without a library. A tile of the result stays in registers over the
// whole depth and is passed to the epilogue from there. The right operand is read in panels of a tile's width.
#pragma once
#include <crochet/base/instruction_set.hpp>
#include <crochet/kernels/cpu/tiles/thin.hpp>
#include <crochet/kernels/cpu/tiles/tile.hpp>

namespace crochet::kernel::CROCHET_ISA {

namespace detail {

/// The maximum number of rows of a product that are computed by dot products.
inline constexpr std::int64_t few_rows = 4;

/// Calls use(part) for parts of the rows of a left operand, `bytes` each. A part fits a second-level cache, or has so
/// many rows that copies of the panels pay for themselves: it is multiplied by all panels before the next part.
template <class Use>
void each_part_of_rows(Range rows, std::int64_t bytes, std::int64_t grain, Use use) {
  constexpr std::int64_t cache = 384 * 1024, least = 128;
  const std::int64_t fit = bytes * least > cache ? least : cache / (bytes + 1), parts = rows.size() / fit;
  if (parts < 2) return use(rows);
  for (std::int64_t p = 0; p < parts; ++p) {
    const Range part = part_of(rows.size(), p, parts, grain);
    use(Range{rows.from + part.from, rows.from + part.to});
  }
}

/// The calls of an epilogue by a product, as functions of the epilogue's address; all programs share the rest of the
/// code. A function that is never called is null.
template <class T>
struct ProductUses {
  /// Passes n sums of row i, from column j on.
  void (*row)(const void* epilogue, std::int64_t i, std::int64_t j, std::int64_t n, const T* sums);
  /// Computes whole tiles of the panel that begins at column j. Returns the first remaining row.
  std::int64_t (*tiles)(const void* epilogue, const Matrix<T>& a, Panel<T> b, std::int64_t depth, Range rows,
                        std::int64_t j);
  /// Computes a column times a row.
  void (*outer)(const void* epilogue, const Matrix<T>& a, const Matrix<T>& b, Range rows, Range columns);
};

template <class T, ProductPaths P, class Epilogue>
struct ProductUsesOf {
  static const Epilogue& of(const void* epilogue) { return *static_cast<const Epilogue*>(epilogue); }

  static void row(const void* epilogue, std::int64_t i, std::int64_t j, std::int64_t n, const T* sums) {
    of(epilogue).row(i, j, n, sums);
  }
  static std::int64_t tiles(const void* epilogue, const Matrix<T>& a, Panel<T> b, std::int64_t depth, Range rows,
                            std::int64_t j) {
    return full_tiles<tile_rows<T>, panel_vectors<T>, P>(a, b, depth, rows, j, of(epilogue));
  }
  static void outer(const void* epilogue, const Matrix<T>& a, const Matrix<T>& b, Range rows, Range columns) {
    constexpr std::int64_t width = panel_width<T>;
    const T* left = a.at(0, 0);
    std::int64_t j = columns.from;
    if constexpr (P.whole_panels) {
      for (; j + width <= columns.to; j += width) {
        column_by_row<panel_vectors<T>>(left, a.row, b.at(0, j), rows, j, of(epilogue));
      }
    }
    if constexpr (P.part_panels) {
      for (; j < columns.to; j += simd::lanes) {
        const std::int64_t n = columns.to - j < simd::lanes ? columns.to - j : simd::lanes;
        column_by_short_row(left, a.row, b.at(0, j), rows, j, n, of(epilogue));
      }
    }
  }

  static constexpr ProductUses<T> all() {
    ProductUses<T> uses{&row, nullptr, nullptr};
    if constexpr (P.whole_panels) uses.tiles = &tiles;
    if constexpr (P.depth_of_one) uses.outer = &outer;
    return uses;
  }
};

/// A product, or a part of one, with an epilogue given by its functions. B: T or, for float, bfloat16.
template <class T, class B>
class Product {
 public:
  Product(const Matrix<T>& a, const Matrix<B>& b, std::int64_t depth, const void* epilogue, const ProductUses<T>& uses)
      : a_(a), b_(b), depth_(depth), epilogue_(epilogue), uses_(uses) {}

  [[gnu::noinline]] void run(Range rows, Range columns, Worker& worker, std::int64_t scratch_offset) const {
    if (rows.size() <= 0 || columns.size() <= 0) return;
    if constexpr (std::is_same_v<T, B>) {
      if (uses_.outer != nullptr && depth_ == 1 && !b_.transposed() && b_.panel == 0) {
        return uses_.outer(epilogue_, a_, b_, rows, columns);
      }
    }
    // Sums in another order than the tiles', so these paths depend on the whole product and not on the part of it. A
    // part that begins with row 0 has more rows than `few`, or all.
    if (rows.from == 0 && rows.size() == 1 && !b_.transposed()) return one_row(0, columns);
    if (rows.from == 0 && rows.size() <= few && b_.transposed() && !a_.transposed()) return by_dots(rows, columns);
    T* const room = worker.scratch<T>(scratch_offset + panel_scratch<T>(depth_)) + scratch_offset;
    each_part_of_rows(rows, depth_ * size_of_element, 2 * tile_rows<T>,
                      [&](Range part) { panels(part, columns, room); });
  }

 private:
  /// The maximum number of rows for which dot products are faster than transposing the matrix.
  static constexpr std::int64_t few = few_rows;
  /// The maximum number of rows for which a tile widens the panel as it reads it, once for each eight or so, rather
  /// than a copy of it.
  static constexpr std::int64_t read_as_stored = 2 * tile_rows<T>;

  static constexpr std::int64_t size_of_element = sizeof(T);

  /// Multiplies by one panel of the columns after the other.
  void panels(Range rows, Range columns, T* room) const {
    constexpr std::int64_t width = panel_width<T>;
    for (std::int64_t j = columns.from; j < columns.to; j += width) {
      const std::int64_t n = columns.to - j < width ? columns.to - j : width;
      if constexpr (!std::is_same_v<T, B>) {
        if (rows.size() <= read_as_stored && !b_.transposed() && (b_.panel != 0 || n == width)) {
          edge_tiles(Panel<B>{b_.at(0, j), b_.row}, rows, j, n);
          continue;
        }
      }
      const Panel<T> panel = panel_of(b_, depth_, j, n, rows.size(), room);
      Range left = rows;
      if (n == width && uses_.tiles != nullptr) left.from = uses_.tiles(epilogue_, a_, panel, depth_, rows, j);
      edge_tiles(panel, left, j, n);
    }
  }

  void use(std::int64_t i, std::int64_t j, std::int64_t n, const T* sums) const { uses_.row(epilogue_, i, j, n, sums); }
  void one_row(std::int64_t i, Range columns) const {
    T sums[row_stretch<T>];
    while (columns.size() > 0) {
      // Stretches begin at multiples of their length, so that a column is summed in the same way in every part.
      const std::int64_t end = (columns.from / row_stretch<T> + 1) * row_stretch<T>;
      const Range stretch{columns.from, end < columns.to ? end : columns.to};
      const std::int64_t n = row_sums(a_, b_, depth_, i, stretch, sums);
      use(i, columns.from, n, sums);
      columns.from += n;
    }
  }
  void by_dots(Range rows, Range columns) const {
    T sums[row_stretch<T>];
    for (std::int64_t i = rows.from; i < rows.to; ++i) {
      for (std::int64_t j = columns.from; j < columns.to; j += row_stretch<T>) {
        const std::int64_t n = columns.to - j < row_stretch<T> ? columns.to - j : row_stretch<T>;
        dot_sums(a_.at(i, 0), b_, depth_, j, n, sums);
        use(i, j, n, sums);
      }
    }
  }
  /// Computes tiles at the edges: n columns, any number of rows.
  template <class P>
  void edge_tiles(Panel<P> panel, Range rows, std::int64_t j, std::int64_t n) const {
    T sums[tile_rows<T> * panel_width<T>];
    while (rows.size() > 0) {
      const std::int64_t made = edge_sums(a_, panel, depth_, rows, n, sums);
      for (int r = 0; r < made; ++r) use(rows.from + r, j, n, sums + r * panel_width<T>);
      rows.from += made;
    }
  }

  const Matrix<T>& a_;
  const Matrix<B>& b_;
  std::int64_t depth_;
  const void* epilogue_;
  const ProductUses<T>& uses_;
};

template <class T, ProductPaths P, class Epilogue>
inline constexpr ProductUses<T> product_uses = ProductUsesOf<T, P, Epilogue>::all();

}  // namespace detail

class Tiles {
 public:
  /// Whether the right operand may be in panels.
  static constexpr bool packs = true;
  static constexpr bool reads_bfloat16 = true;
  /// A column or row of the result has the same bits in every part that begins at a multiple of the grain.
  static constexpr bool divides_freely = true;
  /// The granularity for splitting rows over a team: whole tiles, and more than the rows that are computed otherwise.
  template <class T>
  static constexpr std::int64_t row_grain = tile_rows<T> > detail::few_rows ? tile_rows<T> : 2 * tile_rows<T>;
  /// A part is wider than a vector, unless it ends the result: see row_sums.
  template <class T>
  static constexpr std::int64_t column_grain = 2 * simd::lanes;

  /// The size of the scratch memory of a product, in elements.
  template <class T>
  static std::int64_t scratch(std::int64_t, std::int64_t, std::int64_t depth) {
    return panel_scratch<T>(depth);
  }

  template <ProductPaths P = ProductPaths{}, class T, class B, class Epilogue>
  static void multiply(const Matrix<T>& a, const Matrix<B>& b, std::int64_t depth, Range rows, Range columns,
                       Worker& worker, const Epilogue& epilogue, std::int64_t scratch_offset = 0) {
    detail::Product<T, B>(a, b, depth, &epilogue, detail::product_uses<T, P, Epilogue>)
        .run(rows, columns, worker, scratch_offset);
  }
};

/// Convolutions with it are sums of products, never by Winograd's algorithm.
class ExactTiles : public Tiles {
 public:
  static constexpr bool exact = true;
};

}  // namespace crochet::kernel::CROCHET_ISA
