// SPDX-License-Identifier: Apache-2.0
// FrozenList: the fixed-size form of a vector. Vectors cannot outlive a constant expression, so the result of a pass is
// kept in arrays with a given capacity.
#pragma once
#include <array>
#include <cstddef>

#include <crochet/graph/core/constexpr_vector.hpp>

namespace crochet {

/// At most N elements, of which the first `count` are used. For a longer list only its length is stored, and fits()
/// returns false; the caller then retries with a larger capacity.
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

  /// Converts back to a vector.
  constexpr ConstexprVector<T> to_mutable() const { return {items, items + count}; }
};

}  // namespace crochet
