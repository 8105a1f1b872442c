// SPDX-License-Identifier: Apache-2.0
// Shapes with static extents and named dynamic ones. An extent is a number times powers of dynamic dimensions, so that
// merging dimensions ([batch, 28, 28] to [batch * 784]) is exact at compile time.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>

#include <crochet/base/config.hpp>
#include <crochet/graph/core/graph_error.hpp>

namespace crochet {

/// The maximum number of dynamic dimensions in one graph.
inline constexpr std::size_t max_symbols = 4;
/// The maximum rank of a tensor.
inline constexpr std::size_t max_rank = 6;

/// The run-time values of a graph's dynamic dimensions, by symbol.
using Dims = std::array<std::int64_t, max_symbols>;

// Plain arrays instead of std::array, whose calls count towards the constexpr limits and the compile time.

/// A dimension's size: `factor` times the product of the dynamic dimensions to their powers.
struct Extent {
  std::int64_t factor = 1;
  std::uint32_t powers = 0;  ///< one byte per dynamic dimension

  constexpr Extent() = default;
  // NOLINTNEXTLINE(google-explicit-constructor): a number is an extent
  constexpr Extent(std::int64_t n) : factor(n) {}

  static constexpr Extent symbol(std::size_t which) {
    Extent e;
    e.powers = 1U << (8 * which);
    return e;
  }

  constexpr int power(std::size_t symbol) const { return static_cast<int>((powers >> (8 * symbol)) & 255U); }
  constexpr bool is_static() const { return powers == 0; }
  constexpr bool is_one() const { return factor == 1 && powers == 0; }

  /// Its value for the given dynamic dimensions.
  constexpr std::int64_t at(const Dims& dims) const {
    std::int64_t n = factor;
    if (is_static()) return n;
    CROCHET_SHORT_LOOP
    for (std::size_t s = 0; s < max_symbols; ++s) {
      CROCHET_SHORT_LOOP
      for (int p = power(s); p > 0; --p) n *= dims[s];
    }
    return n;
  }

  friend constexpr bool operator==(const Extent& a, const Extent& b) {
    return a.factor == b.factor && a.powers == b.powers;
  }
  friend constexpr Extent operator*(Extent a, const Extent& b) {
    a.factor *= b.factor;
    a.powers += b.powers;
    return a;
  }
};

/// Whether `b` divides `a` for all values of the dynamic dimensions.
constexpr bool divides(const Extent& b, const Extent& a) {
  for (std::size_t s = 0; s < max_symbols; ++s) {
    if (a.power(s) < b.power(s)) return false;
  }
  return b.factor != 0 && a.factor % b.factor == 0;
}

constexpr Extent operator/(Extent a, const Extent& b) {
  a.factor /= b.factor;
  a.powers -= b.powers;
  return a;
}

/// A tensor's dimensions, outermost first. A scalar has rank 0.
struct Shape {
  std::size_t rank = 0;
  Extent dims[max_rank];

  constexpr Shape() = default;
  constexpr Shape(std::initializer_list<Extent> list) {
    for (const Extent& e : list) push_back(e);
  }

  constexpr void push_back(const Extent& e) {
    if (rank == max_rank) graph_error::too_many_dimensions();
    dims[rank++] = e;
  }
  constexpr const Extent& operator[](std::size_t i) const { return dims[i]; }
  constexpr Extent& operator[](std::size_t i) { return dims[i]; }
  /// The i-th dimension from the right; 1 past the left end, as in numpy's broadcasting.
  constexpr Extent from_right(std::size_t i) const { return i < rank ? dims[rank - 1 - i] : Extent{}; }

  /// The product of dimensions [from, to).
  constexpr Extent product(std::size_t from, std::size_t to) const {
    Extent n;
    CROCHET_SHORT_LOOP
    for (std::size_t i = from; i < to; ++i) {
      n.factor *= dims[i].factor, n.powers += dims[i].powers;
    }
    return n;
  }
  constexpr Extent size() const { return product(0, rank); }

  friend constexpr bool operator==(const Shape& a, const Shape& b) {
    if (a.rank != b.rank) return false;
    for (std::size_t i = 0; i < a.rank; ++i) {
      if (a.dims[i].factor != b.dims[i].factor || a.dims[i].powers != b.dims[i].powers) return false;
    }
    return true;
  }
};

}  // namespace crochet
