// SPDX-License-Identifier: Apache-2.0
// Joining elements: what a reduction does with two elements and with a stream of vectors. The order is fixed, so
// results are reproducible. Used by the reduction kernels and by loops that end in a reduction.
#pragma once
#include <crochet/base/instruction_set.hpp>
#include <crochet/kernels/simd_native.hpp>

namespace crochet::kernel::CROCHET_ISA {

/// The accumulator type of T in long sums: double for floating types, T itself for integers and bools.
template <class T>
using total_t = std::conditional_t<std::is_floating_point_v<T>, double, simd::cell_t<T>>;

// How two elements are joined. `join` takes vectors and scalars. `nothing` is the identity (the result over no
// elements). `rounds`: each step rounds. Long runs are then cut into blocks, whose results are joined in total_t.
struct Sum {
  template <class T>
  static constexpr T nothing = T(0);
  static constexpr bool rounds = true;
  template <class V>
  CROCHET_ALWAYS_INLINE static V join(const V& a, const V& b) {
    return static_cast<V>(a + b);
  }
};
struct Product {
  template <class T>
  static constexpr T nothing = T(1);
  static constexpr bool rounds = true;
  template <class V>
  CROCHET_ALWAYS_INLINE static V join(const V& a, const V& b) {
    return static_cast<V>(a * b);
  }
};
// NaN propagates: one NaN among the elements makes the result NaN.
struct Max {
  template <class T>
  static constexpr T nothing = std::numeric_limits<T>::has_infinity ? -std::numeric_limits<T>::infinity()
                                                                    : std::numeric_limits<T>::lowest();
  static constexpr bool rounds = false;
  template <class V>
  CROCHET_ALWAYS_INLINE static V join(const V& a, const V& b) {
    return simd::maximum(a, b);
  }
};
struct Min {
  template <class T>
  static constexpr T nothing = std::numeric_limits<T>::has_infinity ? std::numeric_limits<T>::infinity()
                                                                    : std::numeric_limits<T>::max();
  static constexpr bool rounds = false;
  template <class V>
  CROCHET_ALWAYS_INLINE static V join(const V& a, const V& b) {
    return simd::minimum(a, b);
  }
};
// Logical or of bools stored as bytes 0 or 1.
struct Any {
  template <class T>
  static constexpr T nothing = T(0);
  static constexpr bool rounds = false;
  template <class V>
  CROCHET_ALWAYS_INLINE static V join(const V& a, const V& b) {
    return static_cast<V>(a | b);
  }
};
struct All {
  template <class T>
  static constexpr T nothing = T(1);
  static constexpr bool rounds = false;
  template <class V>
  CROCHET_ALWAYS_INLINE static V join(const V& a, const V& b) {
    return static_cast<V>(a & b);
  }
};

/// Joins the elements of a vector to one, by repeated halving.
template <class How, class T>
CROCHET_ALWAYS_INLINE simd::cell_t<T> join_lanes(const simd::vec<T>& v) {
  simd::cell_t<T> x[simd::lanes];
  simd::store(x, v);
  CROCHET_UNROLL
  for (int half = simd::lanes / 2; half > 0; half /= 2) {
    CROCHET_UNROLL
    for (int i = 0; i < half; ++i) x[i] = How::join(x[i], x[i + half]);
  }
  return x[0];
}

/// Joins a stream of elements, U vectors at a time. Sums and products are kept in T within a block and joined in
/// total_t between blocks: about as fast as sums in T and about as exact as sums in total_t. Meant as a local variable.
template <class How, class T, int U>
class Accumulator {
 public:
  /// If How::rounds: flush() must be called after this many calls of add(). Each lane has then joined this many
  /// elements.
  static constexpr std::int64_t block = 256;

  CROCHET_ALWAYS_INLINE Accumulator() { clear(); }

  CROCHET_ALWAYS_INLINE void add(const simd::vec<T> (&v)[U]) {
    CROCHET_UNROLL
    for (int u = 0; u < U; ++u) part_[u] = How::join(part_[u], v[u]);
  }
  CROCHET_ALWAYS_INLINE void add_vector(const simd::vec<T>& v) { part_[0] = How::join(part_[0], v); }
  /// Adds one element, for the tail of a row.
  CROCHET_ALWAYS_INLINE void add_element(simd::cell_t<T> x) { total_ = How::join(total_, static_cast<total_t<T>>(x)); }
  /// Ends a block.
  CROCHET_ALWAYS_INLINE void flush() {
    CROCHET_UNROLL
    for (int step = U / 2; step > 0; step /= 2) {
      CROCHET_UNROLL
      for (int u = 0; u < step; ++u) part_[u] = How::join(part_[u], part_[u + step]);
    }
    total_ = How::join(total_, static_cast<total_t<T>>(join_lanes<How, T>(part_[0])));
    clear();
  }
  /// Ends the last block and returns the result over all elements.
  CROCHET_ALWAYS_INLINE total_t<T> result() {
    flush();
    return total_;
  }

 private:
  static_assert((U & (U - 1)) == 0, "vectors are joined in pairs");
  CROCHET_ALWAYS_INLINE void clear() {
    CROCHET_UNROLL
    for (int u = 0; u < U; ++u) part_[u] = simd::splat<T, true>(How::template nothing<simd::cell_t<T>>);
  }

  simd::vec<T> part_[U];
  total_t<T> total_ = How::template nothing<total_t<T>>;
};

/// Joins n contiguous elements.
template <class How, class T>
total_t<T> join_run(const T* p, std::int64_t n) {
  constexpr int many = 4;
  Accumulator<How, T, many> all;
  std::int64_t i = 0, left = all.block;
  for (; i + many * simd::lanes <= n; i += many * simd::lanes) {
    simd::vec<T> v[many];
    __builtin_memcpy(v, p + i, sizeof v);
    all.add(v);
    if (How::rounds && --left == 0) all.flush(), left = all.block;
  }
  for (; i + simd::lanes <= n; i += simd::lanes) all.add_vector(simd::load<T, true>(p + i));
  for (; i < n; ++i) all.add_element(simd::load<T, false>(p + i));
  return all.result();
}

}  // namespace crochet::kernel::CROCHET_ISA
