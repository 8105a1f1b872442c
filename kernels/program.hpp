// SPDX-License-Identifier: Apache-2.0
// A step's elementwise program as types, and its evaluation: several vectors go through each instruction together, in
// registers. Nothing in these types says which model or node the program serves, so equal programs share their code.
#pragma once
#include <bit>
#include <cstddef>
#include <utility>

#include <crochet/graph/passes/broadcasts.hpp>
#include <crochet/kernels/elementwise.hpp>
#include <crochet/kernels/panels.hpp>

namespace crochet::kernel {

// Instructions. An instruction's result is known by its position in the program.
template <class T>
struct Root {};
template <class T, int Access>
struct Load {};
template <class T, int Access, int From>
struct Store {};
template <class T, std::uint64_t Bits>
struct Constant {};
template <class T, const Op* O, int A, class TypeA, int B, int C>
struct Compute {};

template <class... Instruction>
struct Program {};

/// How a program reaches one value: where it is, and the distance of its rows; of its panels if it lies in several. The
/// vectors of one evaluation must then lie in one panel.
template <class T, Mode M, Layout L = Layout::row_major>
struct Ref {
  T* data;
  std::int64_t pitch;

  static constexpr bool follows_columns = M == Mode::full || M == Mode::row;
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

/// How many vectors one evaluation may take together: those of one panel, or as many as are wanted.
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

namespace detail {

template <class T, Mode M, Layout L>
CROCHET_ALWAYS_INLINE T* address(Ref<T, M, L> r, std::int64_t i, std::int64_t j) {
  constexpr std::uint64_t width = panel_width<T>;
  if constexpr (L == Layout::panels) {
    const auto column = static_cast<std::uint64_t>(j);  // of which a quotient is a shift
    return r.data + static_cast<std::int64_t>(column / width) * r.pitch + i * panel_width<T> +
           static_cast<std::int64_t>(column % width);
  }
  if constexpr (M == Mode::full) return r.data + i * r.pitch + j;
  if constexpr (M == Mode::row) return r.data + j;
  if constexpr (M == Mode::column) return r.data + i;
  if constexpr (M == Mode::scalar) return r.data;
}

/// U registers: one position's results.
template <std::size_t, class T, bool Wide, int U>
struct Cells {
  simd::reg_t<T, Wide> v[U];
};
template <std::size_t I, class T, bool Wide, int U>
CROCHET_ALWAYS_INLINE Cells<I, T, Wide, U>& cells(Cells<I, T, Wide, U>& c) {
  return c;
}

template <class I>
struct ResultOf;
template <class T>
struct ResultOf<Root<T>> {
  using type = T;
};
template <class T, int A>
struct ResultOf<Load<T, A>> {
  using type = T;
};
template <class T, int A, int F>
struct ResultOf<Store<T, A, F>> {
  using type = bool;
};
template <class T, std::uint64_t B>
struct ResultOf<Constant<T, B>> {
  using type = T;
};
template <class T, const Op* O, int A, class TA, int B, int C>
struct ResultOf<Compute<T, O, A, TA, B, C>> {
  using type = T;
};

template <class Indices, bool Wide, int U, class... I>
struct Machine;
template <std::size_t... P, bool Wide, int U, class... I>
struct Machine<std::index_sequence<P...>, Wide, U, I...> : Cells<P, typename ResultOf<I>::type, Wide, U>... {};

/// What an instruction sees beside the registers.
template <class R, class Acc>
struct Place {
  const R& refs;
  std::int64_t i, j;
  const Acc* root;
};

template <class T, bool Wide>
inline constexpr std::int64_t step = Wide ? simd::lanes : 1;

template <std::size_t P, bool Wide, int U, class T, class M, class At>
CROCHET_ALWAYS_INLINE void run(Root<T>, M& m, const At& at) {
  CROCHET_UNROLL
  for (int u = 0; u < U; ++u) cells<P>(m).v[u] = at.root[u];
}
template <std::size_t P, bool Wide, int U, class T, int A, class M, class At>
CROCHET_ALWAYS_INLINE void run(Load<T, A>, M& m, const At& at) {
  const auto r = ref<A>(at.refs);
  const T* const from = address(r, at.i, at.j);
  CROCHET_UNROLL
  for (int u = 0; u < U; ++u) {
    if constexpr (r.follows_columns) {
      cells<P>(m).v[u] = simd::load<T, Wide>(from + u * step<T, Wide>);
    } else {
      cells<P>(m).v[u] = simd::splat<T, Wide>(simd::load<T, false>(from));
    }
  }
}
template <std::size_t P, bool Wide, int U, class T, int A, int From, class M, class At>
CROCHET_ALWAYS_INLINE void run(Store<T, A, From>, M& m, const At& at) {
  T* const to = address(ref<A>(at.refs), at.i, at.j);
  CROCHET_UNROLL
  for (int u = 0; u < U; ++u) simd::store(to + u * step<T, Wide>, cells<From>(m).v[u]);
}
template <std::size_t P, bool Wide, int U, class T, std::uint64_t Bits, class M, class At>
CROCHET_ALWAYS_INLINE void run(Constant<T, Bits>, M& m, const At&) {
  constexpr auto value = static_cast<simd::cell_t<T>>(std::bit_cast<double>(Bits));
  CROCHET_UNROLL
  for (int u = 0; u < U; ++u) cells<P>(m).v[u] = simd::splat<T, Wide>(value);
}
template <std::size_t P, bool Wide, int U, class T, const Op* O, int A, class TA, int B, int C, class M, class At>
CROCHET_ALWAYS_INLINE void run(Compute<T, O, A, TA, B, C>, M& m, const At&) {
  CROCHET_UNROLL
  for (int u = 0; u < U; ++u) {
    if constexpr (O == &op::cast) {
      cells<P>(m).v[u] = simd::convert<TA, T, Wide>(cells<A>(m).v[u]);
    } else if constexpr (O == &op::select) {
      cells<P>(m).v[u] = simd::select(cells<A>(m).v[u], cells<B>(m).v[u], cells<C>(m).v[u]);
    } else if constexpr (B < 0) {
      cells<P>(m).v[u] = Elementwise<O>::template apply<TA>(cells<A>(m).v[u]);
    } else if constexpr (C < 0) {
      cells<P>(m).v[u] = Elementwise<O>::template apply<TA>(cells<A>(m).v[u], cells<B>(m).v[u]);
    } else {
      cells<P>(m).v[u] = Elementwise<O>::template apply<TA>(cells<A>(m).v[u], cells<B>(m).v[u], cells<C>(m).v[u]);
    }
  }
}

template <bool Wide, int U, class... I, std::size_t... P, class At>
CROCHET_ALWAYS_INLINE void evaluate(Program<I...>, std::index_sequence<P...>, const At& at) {
  Machine<std::index_sequence<P...>, Wide, U, I...> m;
  (run<P, Wide, U>(I{}, m, at), ...);
}

}  // namespace detail

/// Runs a program at (i, j), (i, j + 1), ...: U vectors, or U elements. `root` holds U registers of the
/// kernel's results; null for a loop.
template <bool Wide, int U, class... I, class R, class Acc>
CROCHET_ALWAYS_INLINE void evaluate(Program<I...> program, const R& refs, std::int64_t i, std::int64_t j,
                                    const Acc* root) {
  detail::evaluate<Wide, U>(program, std::index_sequence_for<I...>{}, detail::Place<R, Acc>{refs, i, j, root});
}

}  // namespace crochet::kernel
