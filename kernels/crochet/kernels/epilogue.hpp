// SPDX-License-Identifier: Apache-2.0
// The epilogue of a kernel: it passes the results, by rows or by registers, to the program fused into the kernel.
#pragma once
#include <crochet/base/instruction_set.hpp>
#include <crochet/kernels/program.hpp>
#include <crochet/kernels/used_lanes.hpp>

namespace crochet::kernel::CROCHET_ISA {

namespace detail {
template <class P>
struct PlainStore {
  static constexpr bool value = false;
};
template <class T>
struct PlainStore<Program<Root<T>, Store<T, 0, 0>>> {
  static constexpr bool value = true;
};
}  // namespace detail

/// A program bound to the memory of its operands. T: the element type of the kernel's results.
template <class T, class P, class R>
class Epilogue {
  static constexpr int wanted = 4, many = together<wanted>(static_cast<const R*>(nullptr));

 public:
  constexpr explicit Epilogue(const R& refs) : refs_(refs) {}

  /// Whether the program only stores the results. A kernel may then write to destination() directly.
  static constexpr bool plain = detail::PlainStore<P>::value && many == wanted;
  /// The address of element (i, j) of the result, for a plain epilogue. `pitch` is the distance of rows.
  T* destination(std::int64_t i, std::int64_t j) const {
    const auto r = ref<0>(refs_);
    return r.data + i * r.pitch + j;
  }
  std::int64_t pitch() const { return ref<0>(refs_).pitch; }

  /// Passes U vectors of results for (i, j), (i, j + lanes), ...
  template <int U, class V>
  CROCHET_ALWAYS_INLINE void vectors(std::int64_t i, std::int64_t j, const V* results) const {
    constexpr int lanes = program_lanes<P>, parts = simd::lanes / lanes;
    if constexpr (parts == 1) {
      evaluate<lanes, U>(P{}, refs_, i, j, results);
    } else {
      simd::cells_t<T, lanes> split[U * parts];
      __builtin_memcpy(split, results, sizeof split);
      evaluate<lanes, U * parts>(P{}, refs_, i, j, split);
    }
  }
  CROCHET_ALWAYS_INLINE void element(std::int64_t i, std::int64_t j, T result) const {
    evaluate<1, 1>(P{}, refs_, i, j, &result);
  }

  /// Passes the first n elements of a vector, n < lanes, for (i, j), ..., (i, j + n - 1).
  template <class V>
  CROCHET_ALWAYS_INLINE void part(std::int64_t i, std::int64_t j, std::int64_t n, const V& results) const {
    if constexpr (detail::can_be_part<P> && program_lanes<P> == simd::lanes) {
      const V v[1] = {results};
      evaluate_first<simd::lanes>(n, P{}, refs_, i, j, v);
    } else {
      row(i, j, n, reinterpret_cast<const T*>(&results));
    }
  }

  /// Passes the used elements of a vector for (i, j), (i, j + 1), ... (used_lanes.hpp).
  template <class V>
  CROCHET_ALWAYS_INLINE void vector(std::int64_t i, std::int64_t j, const V& results, simd::Whole) const {
    const V all[1] = {results};
    vectors<1>(i, j, all);
  }
  template <class V>
  CROCHET_ALWAYS_INLINE void vector(std::int64_t i, std::int64_t j, const V& results, simd::First first) const {
    part(i, j, first.n, results);
  }

  /// Passes n results from memory for (i, j), ..., (i, j + n - 1). If n exceeds one vector, j must be the first column
  /// of a panel.
  [[gnu::noinline]] void row(std::int64_t i, std::int64_t j, std::int64_t n, const T* results) const {
    std::int64_t k = 0;
    CROCHET_SHORT_LOOP
    for (; k + simd::lanes <= n; k += simd::lanes) {
      const simd::vec<T> v[1] = {simd::load<T, true>(results + k)};
      vectors<1>(i, j + k, v);
    }
    if constexpr (detail::can_be_part<P> && program_lanes < P >> 1) {
      constexpr int lanes = program_lanes<P>;
      for (; k < n; k += lanes) first(n - k < lanes ? n - k : lanes, i, j + k, results + k);
    } else {
      for (; k < n; ++k) element(i, j + k, results[k]);
    }
  }

 private:
  /// Passes up to one register of results.
  CROCHET_HOST_ALWAYS_INLINE void first(std::int64_t n, std::int64_t i, std::int64_t j, const T* results) const {
    constexpr int lanes = program_lanes<P>;
    const simd::cells_t<T, lanes> v[1] = {simd::read_first<T, lanes>(results, n)};
    evaluate_first<lanes>(n, P{}, refs_, i, j, v);
  }

  R refs_;
};

/// Evaluates a program at one element: all work of one GPU thread in an elementwise step.
template <class P, class R>
CROCHET_ALWAYS_INLINE void element(P program, const R& refs, std::int64_t i, std::int64_t j) {
  constexpr const char* no_root = nullptr;
  evaluate<1, 1>(program, refs, i, j, no_root);
}

/// Evaluates the program of a step on scalars.
template <class P, class R>
CROCHET_ALWAYS_INLINE void once(P program, const R& refs) {
  element(program, refs, 0, 0);
}

}  // namespace crochet::kernel::CROCHET_ISA
