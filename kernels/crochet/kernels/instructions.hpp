// SPDX-License-Identifier: Apache-2.0
// The instructions of an elementwise program, as types. They do not depend on the model or the node, so equal programs
// share their code.
#pragma once
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <crochet/base/instruction_set.hpp>
#include <crochet/graph/core/op.hpp>
#include <crochet/kernels/simd_part.hpp>

namespace crochet::kernel::CROCHET_ISA {

// The position of an instruction in the program identifies its result.
template <class T>
struct Root {};
template <class T, int Access>
struct Load {};
template <class T, int Access, int From>
struct Store {};
/// Reduces the value at position From into an access: over all elements if that is a scalar, else over each row or each
/// column. O: the reduction.
template <class T, const Op* O, int Access, int From>
struct Accumulate {};
template <class T, std::uint64_t Bits>
struct Constant {};
template <class T, const Op* O, int A, class TypeA, int B, int C>
struct Compute {};

template <class... Instruction>
struct Program {};

namespace detail {

/// Whether an instruction may run on elements past the end. Integer operations may not: division could trap.
template <class I>
inline constexpr bool is_harmless = true;
template <class T, const Op* O, int A, class TA, int B, int C>
inline constexpr bool is_harmless<Compute<T, O, A, TA, B, C>> = !std::is_integral_v<TA> || std::is_same_v<TA, bool>;
template <class P>
inline constexpr bool can_be_part = false;
template <class... I>
inline constexpr bool can_be_part<Program<I...>> = (is_harmless<I> && ...);

template <class I>
struct WidestOf;
template <class T>
struct WidestOf<Root<T>> : std::integral_constant<std::size_t, sizeof(T)> {};
template <class T, int A>
struct WidestOf<Load<T, A>> : std::integral_constant<std::size_t, sizeof(T)> {};
template <class T, int A, int F>
struct WidestOf<Store<T, A, F>> : std::integral_constant<std::size_t, sizeof(T)> {};
template <class T, const Op* O, int A, int F>
struct WidestOf<Accumulate<T, O, A, F>> : std::integral_constant<std::size_t, sizeof(T)> {};
template <class T, std::uint64_t B>
struct WidestOf<Constant<T, B>> : std::integral_constant<std::size_t, sizeof(T)> {};
template <class T, const Op* O, int A, class TA, int B, int C>
struct WidestOf<Compute<T, O, A, TA, B, C>> : std::integral_constant<std::size_t, sizeof(T)> {};

template <class P>
struct LanesOf;
template <class... I>
struct LanesOf<Program<I...>> {
  static constexpr int value = [] {
    std::size_t widest = 1;
    ((widest = WidestOf<I>::value > widest ? WidestOf<I>::value : widest), ...);
    return simd::lanes_for(widest);
  }();
};

}  // namespace detail

/// The number of elements in each register of a program.
template <class P>
inline constexpr int program_lanes = detail::LanesOf<P>::value;

}  // namespace crochet::kernel::CROCHET_ISA
