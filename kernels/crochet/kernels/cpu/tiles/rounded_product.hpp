// SPDX-License-Identifier: Apache-2.0
// What product policies that round the operands of floats share. RoundedProduct: tiles of the result, panel by panel,
// to the epilogue. RoundingTiles: which products are rounded; the others are those of Tiles.
#pragma once
#include <crochet/base/instruction_set.hpp>
#include <crochet/kernels/cpu/tiles.hpp>
#include <crochet/kernels/cpu/tiles/amx.hpp>

namespace crochet::kernel::CROCHET_ISA {

namespace detail {

/// The base of Product, which has
/// - `tile<R>(i, results)`: the results of R rows from row i on, by one panel of columns,
/// - `amx_operands(i)` from row i on, and `results(i, sums, results)` of row i from the sums (`Sum`) of tile registers.
template <class Product>
class RoundedProduct {
 public:
  static constexpr int tall = tile_rows<float>, wide = panel_vectors<float>;
  static constexpr std::int64_t width = panel_width<float>;

  /// Computes all panels of the columns. round_panel(j, n) makes columns [j, j + n) the product's panel.
  template <ProductPaths P, class Round, class Epilogue>
  void multiply(Range rows, Range columns, const Round& round_panel, const Epilogue& epilogue) const {
    const bool by_amx = has_amx();
    [[maybe_unused]] const TileRegisters registers(by_amx);
    for (std::int64_t j = columns.from; j < columns.to; j += width) {
      const std::int64_t n = columns.to - j < width ? columns.to - j : width;
      round_panel(j, n);
      if constexpr (compiled_for_amx) {
        if (by_amx) {
          amx_panel<P>(rows, j, n, epilogue);
          continue;
        }
      }
      Range left = rows;
      if constexpr (P.whole_panels) {
        if (n == width) left.from = whole_tiles(rows, j, epilogue);
      }
      float results[tall * width];
      while (left.size() > 0) {
        const std::int64_t made = edge(left.from, left.size(), results);
        for (std::int64_t r = 0; r < made; ++r) epilogue.row(left.from + r, j, n, results + r * width);
        left.from += made;
      }
    }
  }

 private:
  const Product& self() const { return static_cast<const Product&>(*this); }

  /// All rows by one panel, in tile registers. Sums do not depend on where a row is in a tile, so no part of a product
  /// differs from the whole.
  template <ProductPaths P, class Epilogue>
  void amx_panel(Range rows, std::int64_t j, std::int64_t n, const Epilogue& epilogue) const {
    constexpr std::int64_t most = 2 * amx_rows;
    const Epilogue here = epilogue;
    alignas(64) typename Product::Sum sums[most * width];
    for (std::int64_t i = rows.from; i < rows.to; i += most) {
      const std::int64_t left = rows.to - i < most ? rows.to - i : most;
      if (left > amx_rows) {
        amx_sums<true>(self().amx_operands(i), sums);
      } else {
        amx_sums<false>(self().amx_operands(i), sums);
      }
      for (std::int64_t r = 0; r < left; ++r) {
        native<float> results[wide];
        self().results(i + r, sums + r * width, results);
        if constexpr (P.whole_panels) {
          if (n == width) {
            here.template vectors<wide>(i + r, j, results);
            continue;
          }
        }
        float some[width];
        __builtin_memcpy(some, results, sizeof some);
        here.row(i + r, j, n, some);
      }
    }
  }
  /// Returns the first remaining row.
  template <class Epilogue>
  std::int64_t whole_tiles(Range rows, std::int64_t j, const Epilogue& epilogue) const {
    const Epilogue here = epilogue;  // a local copy, which no store can alias, stays in registers
    std::int64_t i = rows.from;
    for (; i + tall <= rows.to; i += tall) {
      native<float> results[tall][wide];
      self().template tile<tall>(i, results);
      CROCHET_UNROLL
      for (int r = 0; r < tall; ++r) here.template vectors<wide>(i + r, j, results[r]);
    }
    return i;
  }
  /// Stores the results of up to `tall` rows from row i on, in rows of a panel's width. Returns the number of rows.
  [[gnu::noinline]] std::int64_t edge(std::int64_t i, std::int64_t left, float* to) const {
    if (left >= tall) return edge_of<tall>(i, to);
    if (left >= tall / 2) return edge_of<tall / 2>(i, to);
    return edge_of<1>(i, to);
  }
  template <int R>
  std::int64_t edge_of(std::int64_t i, float* to) const {
    native<float> results[R][wide];
    self().template tile<R>(i, results);
    __builtin_memcpy(to, results, sizeof results);
    return R;
  }
};

}  // namespace detail

/// The base of a Policy, which has
/// - `numbers_in_word`: the rounded numbers in four bytes,
/// - `rounds(depth)`: whether products of this depth are rounded,
/// - `words(rows, depth)`: the size of the scratch memory of such a product, in words of four bytes,
/// - `multiply_rounded<P>(a, b, depth, rows, columns, words, epilogue)`.
/// Products of few rows are limited by reading the weights, which are floats, so they are products of floats; so are
/// products of doubles and, if `rounds_stored_bfloat16` is false, those with weights that are stored as bfloat16.
template <class Policy>
class RoundingTiles {
 public:
  static constexpr bool packs = true;
  static constexpr bool reads_bfloat16 = true;
  static constexpr bool divides_freely = true;
  template <class T>
  static constexpr std::int64_t row_grain = Tiles::row_grain<T>;
  template <class T>
  static constexpr std::int64_t column_grain = Tiles::column_grain<T>;

  template <class T>
  static std::int64_t scratch(std::int64_t rows, std::int64_t columns, std::int64_t depth) {
    const std::int64_t floats = Tiles::scratch<T>(rows, columns, depth);
    if constexpr (!std::is_same_v<T, float>) return floats;
    const std::int64_t words = Policy::words(rows, depth);
    return floats < words ? words : floats;
  }

  template <ProductPaths P = ProductPaths{}, class T, class B, class Epilogue>
  static void multiply(const Matrix<T>& a, const Matrix<B>& b, std::int64_t depth, Range rows, Range columns,
                       Worker& worker, const Epilogue& epilogue, std::int64_t scratch_offset = 0) {
    if constexpr (std::is_same_v<T, float> && (std::is_same_v<B, float> || Policy::rounds_stored_bfloat16)) {
      // Depends on the whole product: a part that begins with row 0 has more rows than few_rows, or all.
      const bool few = rows.from == 0 && rows.size() <= detail::few_rows;
      if (!few && Policy::rounds(depth)) {
        if (rows.size() <= 0 || columns.size() <= 0) return;
        detail::each_part_of_rows(rows, bytes_of_row(depth), 2 * amx_rows, [&](Range part) {
          const std::int64_t words = Policy::words(part.size(), depth);
          float* const room = worker.scratch<float>(scratch_offset + words) + scratch_offset;
          Policy::template multiply_rounded<P>(a, b, depth, part, columns, room, epilogue);
        });
        return;
      }
    }
    Tiles::multiply<P>(a, b, depth, rows, columns, worker, epilogue, scratch_offset);
  }

 private:
  /// Of a rounded row. Without tile registers all rows are rounded together: a third-level cache is fast enough.
  static constexpr std::int64_t bytes_of_row(std::int64_t depth) {
    constexpr std::int64_t n = Policy::numbers_in_word;
    return compiled_for_amx ? 4 * amx_whole((depth + n - 1) / n) : 0;
  }
};

}  // namespace crochet::kernel::CROCHET_ISA
