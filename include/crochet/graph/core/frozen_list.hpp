// SPDX-License-Identifier: Apache-2.0
// FrozenList: a vector at rest. Vectors cannot outlive a constant expression, so what one pass leaves for the next is
// kept in arrays with room for it.
#pragma once
#include <array>
#include <cstddef>

#include <crochet/graph/core/constexpr_vector.hpp>

namespace crochet {

/// Room for N elements, of which the first `count` are there. If there were more than N, only their count is kept:
/// `fits()` says no, and whoever made it tries again with more room.
template <class T, std::size_t N>
struct FrozenList {
  T items[N == 0 ? 1 : N]{};
  std::size_t count = 0;

  constexpr FrozenList() = default;
  constexpr explicit FrozenList(const ConstexprVector<T>& from) : count(from.size()) {
    const T* const elements = from.data();
    for (std::size_t i = 0; i < (fits() ? count : 0); ++i) items[i] = elements[i];
  }

  constexpr bool fits() const { return count <= N; }
  constexpr std::size_t size() const { return count; }
  constexpr const T* data() const { return items; }
  constexpr const T* begin() const { return items; }
  constexpr const T* end() const { return items + count; }
  constexpr const T& operator[](std::size_t i) const { return items[i]; }

  /// The vector again.
  constexpr ConstexprVector<T> to_mutable() const { return {items, items + count}; }
};

}  // namespace crochet
