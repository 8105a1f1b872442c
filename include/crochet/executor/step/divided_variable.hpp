// SPDX-License-Identifier: Apache-2.0
// The declarations of state that differs between the ranks of a session (docs/ranks.md). On one machine they are
// `variable`.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <type_traits>

#include <crochet/base/name.hpp>
#include <crochet/executor/step/step_ports.hpp>

namespace crochet {

/// How the ranks have a variable that differs between them.
enum class Division : unsigned char {
  by_rows,  ///< each has rows of one array, in the order of ranks
  of_rank   ///< each has an array or a number of its own
};

/// Variable: a StateVariable, which is the part of this rank.
template <class Variable, Division D>
class DividedVariable : public Variable {
 public:
  static constexpr Division division = D;
  constexpr explicit DividedVariable(Variable part) : Variable(part) {}
};

namespace detail {
/// part: a StateVariable.
template <Division D, class Object, std::size_t Rank, class N>
constexpr auto divided(StateVariable<Object, Rank, N> part) {
  static_assert(Rank <= 8, "crochet: a variable that is divided over ranks has at most 8 extents");
  return DividedVariable<StateVariable<Object, Rank, N>, D>{part};
}
}  // namespace detail

/// This rank's rows of an array that is divided over the ranks: `variable_by_rows<"u">(u, {rows, columns})`.
/// - The array consists of the rows of rank 0, then those of rank 1, and so on. Ranks may have different numbers of
///   rows, and all have the other extents in common; else a save throws ShapeError.
/// - A checkpoint has the array as one tensor, as that of a program on one machine. It is restored on any number of
///   ranks whose rows together are as many.
/// - u: a contiguous range of arithmetic elements without ghost rows. It must outlive the executor. Without extents it
///   is one-dimensional.
template <FixedString Text, class Range>
requires requires(Range& r) { std::data(r); }
constexpr auto variable_by_rows(Range& range) { return detail::divided<Division::by_rows>(variable<Text>(range)); }
template <FixedString Text, class Range, std::size_t Rank>
requires requires(Range& r) { std::data(r); }
constexpr auto variable_by_rows(Range& range, const std::int64_t (&shape)[Rank]) {
  return detail::divided<Division::by_rows>(variable<Text>(range, shape));
}

/// State that each rank has for itself, for example of its random generator, or a block of a field that is not divided
/// by rows: `variable_of_rank<"seed">(seed)`. Arguments as for `variable`.
/// - A checkpoint has it as `seed/rank_0_of_4` and so on; on one rank as `seed`. It is restored on the same number of
///   ranks, each with the same shape.
template <FixedString Text, class Object>
constexpr auto variable_of_rank(Object& object) {
  return detail::divided<Division::of_rank>(variable<Text>(object));
}
template <FixedString Text, class Range, std::size_t Rank>
requires requires(Range& r) { std::data(r); }
constexpr auto variable_of_rank(Range& range, const std::int64_t (&shape)[Rank]) {
  return detail::divided<Division::of_rank>(variable<Text>(range, shape));
}

namespace detail {

template <class V, Division D>
inline constexpr bool is_state<DividedVariable<V, D>> = true;

template <class V>
inline constexpr bool is_divided = false;
template <class V, Division D>
inline constexpr bool is_divided<DividedVariable<V, D>> = true;

}  // namespace detail

}  // namespace crochet
