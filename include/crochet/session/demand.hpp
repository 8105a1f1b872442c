// SPDX-License-Identifier: Apache-2.0
// What one run has to compute, as a type. An executor is instantiated once for every demand that can occur, so that
// each is straight-line code for exactly what is wanted.
//
// Who asks:  base = the caller and every hook that always asks. Hooks that ask now and then (before_run returns an
//            optional) and add a name to base make groups: those that add the same names are one group.
// Plans:     with K groups there are K + 2 plans: none due (base), exactly one group due, several due (all of them).
//            A hook that adds no name to base needs no plan of its own. With K = 1 there are two plans.
// Choice:    one bit per group, set in before_run. Without groups there is no choice and no code for one.
// Feeds of hooks that ask now and then are present only in runs where the hook is due: F such feeding hooks double the
// instantiations F times, so keep them few.
#pragma once

#include <array>
#include <cstddef>
#include <utility>

#include <crochet/hook/ask.hpp>
#include <crochet/hook/run_args.hpp>
#include <crochet/name.hpp>
#include <crochet/session/executor.hpp>

namespace crochet {

/// The names to fetch and the names to run, in the order of the executor's tables, none twice.
template <class FetchNames, class TargetNames>
struct Demand;
template <class... F, class... T>
struct Demand<Names<F...>, Names<T...>> {
  /// Is the value of N wanted in this run?
  template <class N>
  static constexpr bool fetches = (std::is_same_v<N, F> || ...);
  template <class N>
  static constexpr bool runs = (std::is_same_v<N, T> || ...);
};

namespace detail {

template <class... A, class... B>
constexpr List<A..., B...> operator+(List<A...>, List<B...>) {
  return {};
}

template <class A>
struct NamesIn;
template <class... F, class... T, class... N, class... X>
struct NamesIn<RunArgs<Fetches<F...>, Targets<T...>, Feeds<Feed<N, X>...>>> {
  using fetches = List<F...>;
  using targets = List<T...>;
  using feeds = List<Feed<N, X>...>;
};

/// Which entries of a table are in the list.
template <class... N, class Table>
constexpr auto marks(List<N...>, const Table& table) {
  std::array<bool, std::tuple_size_v<Table>> marked{};
  ((marked[index_of_name(N::view(), table)] = true), ...);
  return marked;
}

template <std::size_t Count, std::size_t N>
constexpr std::array<std::size_t, Count> marked_indices(const std::array<bool, N>& marked) {
  std::array<std::size_t, Count> indices{};
  std::size_t next = 0;
  for (std::size_t i = 0; i < N; ++i) {
    if (marked[i]) indices[next++] = i;
  }
  return indices;
}
template <std::size_t N>
constexpr std::size_t count_marked(const std::array<bool, N>& marked) {
  std::size_t count = 0;
  for (const bool mark : marked) count += mark ? 1 : 0;
  return count;
}

template <const auto& Table, class NameList>
struct Canonical {
  static constexpr auto marked = marks(NameList{}, Table);
  static constexpr auto indices = marked_indices<count_marked(marked)>(marked);
  template <std::size_t I>
  using name_at = Name<FixedString<Table[indices[I]].size() + 1>{Table[indices[I]]}>;
  template <std::size_t... I>
  static Names<name_at<I>...> names(std::index_sequence<I...>);
  using type = decltype(names(std::make_index_sequence<indices.size()>{}));
};

/// The demand that fetches and runs the names of two Lists, which may repeat and be in any order.
template <class E, class FetchList, class TargetList>
using demand_for =
    Demand<typename Canonical<E::fetchable, FetchList>::type, typename Canonical<E::targets, TargetList>::type>;

template <class D, class... Known>
constexpr auto add_unless_known(List<Known...>) {
  if constexpr ((std::is_same_v<D, Known> || ...)) {
    return List<Known...>{};
  } else {
    return List<Known..., D>{};
  }
}
template <class Sum>
constexpr auto unique(Sum sum, List<>) {
  return sum;
}
template <class Sum, class D, class... Rest>
constexpr auto unique(Sum sum, List<D, Rest...>) {
  return unique(add_unless_known<D>(sum), List<Rest...>{});
}

template <class D, class... Known>
constexpr std::size_t position_in(List<Known...>) {
  const bool same[] = {std::is_same_v<D, Known>..., true};
  std::size_t i = 0;
  while (!same[i]) ++i;
  return i;
}

/// The wish of a conditional asker as a List of one RunArgs, that of any other as an empty one; and the other way
/// round.
template <class Asked>
using sometimes = std::conditional_t<Asked::conditional, List<typename Asked::args_type>, List<>>;
template <class Asked>
using always = std::conditional_t<Asked::conditional, List<>, List<typename Asked::args_type>>;

/// The plans of one kind of run: `Asked...` are the chain's Ask types in order, `Args` is the caller's request.
template <class E, class Args, class... Asked>
class Plans {
  template <class... A>
  static constexpr auto fetches_of(List<A...>) {  // not decltype: nvcc does not find the pack there
    return (List<>{} + ... + typename NamesIn<A>::fetches{});
  }
  template <class... A>
  static constexpr auto targets_of(List<A...>) {
    return (List<>{} + ... + typename NamesIn<A>::targets{});
  }

  using BaseArgs = decltype((List<Args>{} + ... + always<Asked>{}));
  using AllArgs = decltype((BaseArgs{} + ... + sometimes<Asked>{}));
  template <class ArgsList>
  using demand_of = demand_for<E, decltype(fetches_of(ArgsList{})), decltype(targets_of(ArgsList{}))>;

  template <class... S>
  static constexpr auto due_demands(List<S...>) {
    return List<demand_of<decltype(BaseArgs{} + List<S>{})>...>{};
  }
  template <class First, class... Rest>
  static List<Rest...> without_first(List<First, Rest...>);

  using Sometimes = decltype((List<>{} + ... + sometimes<Asked>{}));
  using BaseThenGroups = decltype(unique(List<demand_of<BaseArgs>>{}, due_demands(Sometimes{})));

 public:
  using Base = demand_of<BaseArgs>;
  using All = demand_of<AllArgs>;
  /// The demands of one group being due.
  using Groups = decltype(without_first(BaseThenGroups{}));

  /// The group of an Ask: 0 for one that adds nothing to base, else 1 + its index in Groups.
  template <class A>
  static constexpr std::size_t group_of() {
    if constexpr (A::conditional) {
      return position_in<demand_of<decltype(BaseArgs{} + List<typename A::args_type>{})>>(BaseThenGroups{});
    } else {
      return 0;
    }
  }
};

}  // namespace detail

}  // namespace crochet
