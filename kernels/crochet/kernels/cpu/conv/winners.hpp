// SPDX-License-Identifier: Apache-2.0
// The winning element of each pooling window, as vectors: one register of elements, and as many bytes or ints.
#pragma once
#include <crochet/base/instruction_set.hpp>
#include <crochet/kernels/cpu/tiles/transpose.hpp>

namespace crochet::kernel::CROCHET_ISA::detail {

template <class T, class Of = T>
using part = simd::vec<Of, native_lanes<T>>;

/// Loads a register or an element from memory.
template <class V, class T>
CROCHET_ALWAYS_INLINE V load_like(const T* p) {
  V v;
  __builtin_memcpy(&v, p, sizeof v);
  return v;
}

/// `a` where the mask, of another width, holds, else `b`. Converts the masks instead of the results, for which
/// compilers use one instruction where there is one.
template <class V, class Mask>
CROCHET_ALWAYS_INLINE V choose(const Mask& mask, const V& a, const V& b) {
  if constexpr (simd::is_scalar<V>) {
    return mask ? a : b;
  } else {
    constexpr std::size_t size = sizeof(simd::element_of<V>);
    using I = std::conditional_t<size == 1, std::int8_t, std::conditional_t<size == 4, std::int32_t, std::int64_t>>;
    return __builtin_convertvector(mask, simd::vec<I, simd::lanes_of<V>>) != 0 ? a : b;
  }
}

/// The upstream gradient where tap number `tap` has won, else 0.
template <class V, class T, class Index>
CROCHET_ALWAYS_INLINE V to_winner(const T* up, const Index* winners, std::int64_t tap) {
  const V u = load_like<V>(up);
  if constexpr (simd::is_scalar<V>) {
    return *winners == static_cast<Index>(tap) ? u : V{};
  } else {
    return choose<V>(load_like<part<T, Index>>(winners) == static_cast<Index>(tap), u, V{});
  }
}

}  // namespace crochet::kernel::CROCHET_ISA::detail
