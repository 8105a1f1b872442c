// SPDX-License-Identifier: Apache-2.0
// The evaluation of a step's elementwise program. Each instruction (instructions.hpp) processes several vectors in
// registers; loads and stores access the program's memory (refs.hpp).
#pragma once
#include <bit>
#include <cstddef>
#include <utility>

#include <crochet/base/instruction_set.hpp>
#include <crochet/kernels/elementwise.hpp>
#include <crochet/kernels/instructions.hpp>
#include <crochet/kernels/refs.hpp>
#include <crochet/kernels/registers.hpp>
#include <crochet/kernels/simd_part.hpp>

namespace crochet::kernel::CROCHET_ISA {

namespace detail {

/// The type of a register that holds an instruction's result.
template <class I, int N>
struct ResultOf;
template <class T, int N>
struct ResultOf<Root<T>, N> {
  using type = simd::cells_t<T, N>;
};
template <class T, int A, int N>
struct ResultOf<Load<T, A>, N> {
  using type = simd::cells_t<T, N>;
};
template <class T, int A, int F, int N>
struct ResultOf<Store<T, A, F>, N> {
  using type = char;  // no result
};
template <class T, const Op* O, int A, int F, int N>
struct ResultOf<Accumulate<T, O, A, F>, N> {
  using type = char;  // no result
};
template <class T, std::uint64_t B, int N>
struct ResultOf<Constant<T, B>, N> {
  using type = simd::cells_t<T, N>;
};
template <class T, const Op* O, int A, class TA, int B, int C, int N>
struct ResultOf<Compute<T, O, A, TA, B, C>, N> {
  CROCHET_ALWAYS_INLINE static auto of() {
    [[maybe_unused]] const simd::cells_t<TA, N> x{};
    if constexpr (O == &op::cast && N > 1) {
      return simd::cast<TA, T, N>(x);
    } else if constexpr (O == &op::select || O == &op::cast) {
      return simd::cells_t<T, N>{};
    } else if constexpr (B < 0) {
      return Elementwise<O>::template apply<TA>(x);
    } else if constexpr (C < 0) {
      return Elementwise<O>::template apply<TA>(x, x);
    } else {
      return Elementwise<O>::template apply<TA>(x, x, x);
    }
  }
  using type = std::conditional_t<std::is_same_v<T, bool> && N != 1, decltype(of()), simd::cells_t<T, N>>;
};

/// U registers: the result at one position of the program.
template <std::size_t, class V, int U>
struct Registers {
  V v[U];
};
template <std::size_t I, class V, int U>
CROCHET_ALWAYS_INLINE Registers<I, V, U>& cells(Registers<I, V, U>& c) {
  return c;
}
template <class Indices, int N, int U, class... I>
struct RegisterFile;
template <std::size_t... P, int N, int U, class... I>
struct RegisterFile<std::index_sequence<P...>, N, U, I...> : Registers<P, typename ResultOf<I, N>::type, U>... {};

/// The operands of an instruction that are not in registers.
template <class R, class Acc, class Sink>
struct Place {
  const R& refs;
  std::int64_t i, j;
  const Acc* root;
  Sink& sink;
};

/// As above, if only the first `n` elements of a register exist.
template <class R, class Acc, class Sink>
struct PartPlace : Place<R, Acc, Sink> {
  std::int64_t n;
};
template <class At>
inline constexpr bool is_part = requires(const At& at) {
  at.n;
};

/// Converts an operand for functors: truth values to bytes.
template <int N, class T, class V>
CROCHET_ALWAYS_INLINE simd::cells_t<T, N> operand(const V& x) {
  if constexpr (std::is_same_v<T, bool>) {
    return simd::as_bytes<N>(x);
  } else {
    return x;
  }
}

template <std::size_t P, int N, int U, class T, class M, class At>
CROCHET_ALWAYS_INLINE void run(Root<T>, M& m, const At& at) {
  CROCHET_UNROLL
  for (int u = 0; u < U; ++u) cells<P>(m).v[u] = at.root[u];
}
template <std::size_t P, int N, int U, class T, int A, class M, class At>
CROCHET_ALWAYS_INLINE void run(Load<T, A>, M& m, const At& at) {
  const auto r = ref<A>(at.refs);
  const T* const from = address(r, at.i, at.j);
  if constexpr (N == 1 && U > 1 && r.follows_columns) {  // on a device: one load of U aligned elements
    const T* const aligned = static_cast<const T*>(__builtin_assume_aligned(from, U * sizeof(T)));
    __builtin_memcpy(cells<P>(m).v, aligned, U * sizeof(T));
  } else {
    CROCHET_UNROLL
    for (int u = 0; u < U; ++u) {
      if constexpr (r.follows_columns && is_part<At>) {
        cells<P>(m).v[u] = simd::read_first<T, N>(from, at.n);
      } else if constexpr (r.follows_columns) {
        cells<P>(m).v[u] = simd::read<T, N>(from + u * N);
      } else {
        cells<P>(m).v[u] = simd::fill<T, N>(simd::read<T, 1>(from));
      }
    }
  }
}
template <std::size_t P, int N, int U, class T, int A, int From, class M, class At>
CROCHET_ALWAYS_INLINE void run(Store<T, A, From>, M& m, const At& at) {
  T* const to = address(ref<A>(at.refs), at.i, at.j);
  if constexpr (N == 1 && U > 1) {
    T* const aligned = static_cast<T*>(__builtin_assume_aligned(to, U * sizeof(T)));
    __builtin_memcpy(aligned, cells<From>(m).v, U * sizeof(T));
  } else {
    CROCHET_UNROLL
    for (int u = 0; u < U; ++u) {
      if constexpr (is_part<At>) {
        simd::write_first<T, N>(to, operand<N, T>(cells<From>(m).v[u]), at.n);
      } else if constexpr (std::is_same_v<T, bool>) {
        simd::store(to + u * N, simd::as_bytes<N>(cells<From>(m).v[u]));
      } else {
        simd::store(to + u * N, cells<From>(m).v[u]);
      }
    }
  }
}
template <std::size_t P, int N, int U, class T, const Op* O, int A, int From, class M, class At>
CROCHET_ALWAYS_INLINE void run(Accumulate<T, O, A, From>, M& m, const At& at) {
  at.sink.template add<A>(cells<From>(m).v);
}
template <std::size_t P, int N, int U, class T, std::uint64_t Bits, class M, class At>
CROCHET_ALWAYS_INLINE void run(Constant<T, Bits>, M& m, const At&) {
  constexpr auto number = static_cast<T>(std::bit_cast<double>(Bits));
  constexpr auto value = std::bit_cast<simd::cell_t<T>>(number);
  CROCHET_UNROLL
  for (int u = 0; u < U; ++u) cells<P>(m).v[u] = simd::fill<T, N>(value);
}

template <std::size_t P, int N, int U, class T, const Op* O, int A, class TA, int B, int C, class M, class At>
CROCHET_ALWAYS_INLINE void run(Compute<T, O, A, TA, B, C>, M& m, const At&) {
  CROCHET_UNROLL
  for (int u = 0; u < U; ++u) {
    auto& result = cells<P>(m).v[u];
    const auto& a = cells<A>(m).v[u];
    if constexpr (O == &op::cast) {
      result = simd::cast<TA, T, N>(a);
    } else if constexpr (O == &op::select) {
      result = simd::choose<T, N>(a, operand<N, T>(cells<B>(m).v[u]), operand<N, T>(cells<C>(m).v[u]));
    } else if constexpr (B < 0) {
      result = Elementwise<O>::template apply<TA>(operand<N, TA>(a));
    } else if constexpr (C < 0) {
      result = Elementwise<O>::template apply<TA>(operand<N, TA>(a), operand<N, TA>(cells<B>(m).v[u]));
    } else {
      result = Elementwise<O>::template apply<TA>(operand<N, TA>(a), operand<N, TA>(cells<B>(m).v[u]),
                                                  operand<N, TA>(cells<C>(m).v[u]));
    }
  }
}

template <int N, int U, class... I, std::size_t... P, class At>
CROCHET_ALWAYS_INLINE void evaluate(Program<I...>, std::index_sequence<P...>, const At& at) {
  RegisterFile<std::index_sequence<P...>, N, U, I...> m;
  (run<P, N, U>(I{}, m, at), ...);
}

}  // namespace detail

/// The sink of programs without reductions.
struct NoSink {};

/// Runs a program at (i, j), (i, j + 1), ...: U registers of N elements. `root`: U registers of the kernel's results;
/// null in a loop. Values of Accumulate instructions go to sink.add<access>(registers).
template <int N, int U, class... I, class R, class Acc, class Sink = NoSink>
CROCHET_ALWAYS_INLINE void evaluate(Program<I...> program, const R& refs, std::int64_t i, std::int64_t j,
                                    const Acc* root, Sink&& sink = {}) {
  constexpr int lanes = N < 1 ? 1 : N;
  using S = std::remove_reference_t<Sink>;
  detail::evaluate<lanes, U>(program, std::index_sequence_for<I...>{},
                             detail::Place<R, Acc, S>{refs, i, j, root, sink});
}
/// Runs a program on one register of N elements, of which the first n exist.
template <int N, class... I, class R, class Acc>
CROCHET_ALWAYS_INLINE void evaluate_first(std::int64_t n, Program<I...> program, const R& refs, std::int64_t i,
                                          std::int64_t j, const Acc* root) {
  NoSink sink;
  detail::evaluate<N, 1>(program, std::index_sequence_for<I...>{},
                         detail::PartPlace<R, Acc, NoSink>{{refs, i, j, root, sink}, n});
}

}  // namespace crochet::kernel::CROCHET_ISA
