// SPDX-License-Identifier: Apache-2.0
// Refs: the memory that a program accesses, and the address of one of its elements.
#pragma once
#include <cstddef>
#include <cstdint>
#include <utility>

#include <crochet/base/instruction_set.hpp>
#include <crochet/graph/passes/broadcasts.hpp>
#include <crochet/kernels/panels.hpp>

namespace crochet::kernel::CROCHET_ISA {

/// The memory of one value: its address, and the distance of its rows, or of its panels in that layout. With panels,
/// the vectors of one evaluation must lie in one panel.
template <class T, BroadcastMode M, Layout L = Layout::row_major>
struct Ref {
  T* data;
  std::int64_t pitch;

  static constexpr bool follows_columns = M == BroadcastMode::full || M == BroadcastMode::row;
  /// Whether the element is the same for equal row-major positions, whatever the row.
  static constexpr bool is_flat = M == BroadcastMode::full || M == BroadcastMode::scalar;
  static constexpr bool in_panels = L == Layout::panels;
  static constexpr int panel_vectors = kernel::panel_vectors<T>;
};

template <std::size_t, class R>
struct RefSlot {
  R ref;
};
template <class Indices, class... R>
struct RefSlots;
template <std::size_t... I, class... R>
struct RefSlots<std::index_sequence<I...>, R...> : RefSlot<I, R>... {};
template <class... R>
using Refs = RefSlots<std::index_sequence_for<R...>, R...>;

/// The number of vectors per evaluation: at most those of one panel if an operand is in panels, else `Wanted`.
template <int Wanted, class Indices, class... R>
constexpr int together(const RefSlots<Indices, R...>*) {
  int most = Wanted;
  ((most = R::in_panels && R::panel_vectors < most ? R::panel_vectors : most), ...);
  return most;
}

template <std::size_t I, class R>
CROCHET_ALWAYS_INLINE R ref(const RefSlot<I, R>& slot) {
  return slot.ref;
}

/// The address of element (i, j).
template <class T, BroadcastMode M, Layout L>
CROCHET_ALWAYS_INLINE T* address(Ref<T, M, L> r, std::int64_t i, std::int64_t j) {
  constexpr std::uint64_t width = panel_width<T>;
  if constexpr (L == Layout::panels) {
    const auto column = static_cast<std::uint64_t>(j);  // unsigned, so that the quotient compiles to a shift
    return r.data + static_cast<std::int64_t>(column / width) * r.pitch + i * panel_width<T> +
           static_cast<std::int64_t>(column % width);
  }
  if constexpr (M == BroadcastMode::full) return r.data + i * r.pitch + j;
  if constexpr (M == BroadcastMode::row) return r.data + j;
  if constexpr (M == BroadcastMode::column) return r.data + i;
  if constexpr (M == BroadcastMode::scalar) return r.data;
}

}  // namespace crochet::kernel::CROCHET_ISA
