// SPDX-License-Identifier: Apache-2.0
// How a program uses each of its accesses, and the cost of a program.
#pragma once
#include <crochet/base/instruction_set.hpp>
#include <crochet/graph/passes/cost.hpp>
#include <crochet/kernels/program.hpp>

namespace crochet::kernel::CROCHET_ISA {

template <class I, int A>
struct Uses {
  static constexpr bool reads = false, writes = false;
  static constexpr const Op* reduction = nullptr;
};
template <class T, int A>
struct Uses<Load<T, A>, A> : Uses<void, A> {
  static constexpr bool reads = true;
};
template <class T, int A, int F>
struct Uses<Store<T, A, F>, A> : Uses<void, A> {
  static constexpr bool writes = true;
};
template <class T, const Op* O, int A, int F>
struct Uses<Accumulate<T, O, A, F>, A> : Uses<void, A> {
  static constexpr const Op* reduction = O;
};

template <class I>
inline constexpr int cost_of_instruction = 1;
template <class T, const Op* O, int A, class TA, int B, int C>
inline constexpr int cost_of_instruction<Compute<T, O, A, TA, B, C>> = cost_of(*O);

/// As above, for a whole program.
template <class P>
struct UsesOf;
template <class... I>
struct UsesOf<Program<I...>> {
  template <int A>
  static constexpr bool reads = (Uses<I, A>::reads || ...);
  template <int A>
  static constexpr bool writes = (Uses<I, A>::writes || ...);
  /// The operation that reduces into the access; null if there is none.
  template <int A>
  static constexpr const Op* reduction() {
    const Op* op = nullptr;
    ((op = Uses<I, A>::reduction != nullptr ? Uses<I, A>::reduction : op), ...);
    return op;
  }
  static constexpr std::int64_t cost = (cost_of_instruction<I> + ... + 0);
};

}  // namespace crochet::kernel::CROCHET_ISA
