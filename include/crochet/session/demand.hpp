// SPDX-License-Identifier: Apache-2.0
// The names that one run has to compute, as a type. An executor is instantiated once for every demand that can occur,
// so that each instantiation is straight-line code for exactly these names.
//
// - Requests: base = the requests of the caller and of every unconditional hook. A conditional hook (before_run returns
//   an optional) that adds a name to base belongs to a group. Hooks that add the same names form one group.
// - Plans: with K groups there are K + 2 plans: none due (base), exactly one group due, several due (all of them). A
//   hook that adds no name to base needs no plan. With K = 1 there are two plans.
// - Selection: one bit per group, set in before_run. Without groups no selection code is generated.
// - Feeds of conditional hooks are present only in runs where the hook is due. F such hooks multiply the number of
//   instantiations by 2^F, so keep them few.
#pragma once

#include <array>
#include <cstddef>
#include <utility>

#include <crochet/base/name.hpp>
#include <crochet/hook/hook_request.hpp>
#include <crochet/hook/pack.hpp>
#include <crochet/hook/run_args.hpp>
#include <crochet/session/executor.hpp>

namespace crochet {

/// The names to fetch and the names to run, without duplicates, in the order of the executor's tables.
template <class FetchNames, class TargetNames>
struct Demand;
template <class... F, class... T>
struct Demand<Names<F...>, Names<T...>> {
  /// Whether this run fetches the value of N.
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

// nvcc's front end rejects references to members of a template as template arguments, and string template arguments in
// a function's type. So the functions here take tables as arguments, and types have the members `table` and `marked`.

/// Marks the entries of a table that the list contains.
template <std::size_t Size, class Table, class... N>
constexpr void mark(std::array<bool, Size>& marked, const Table& table, List<N...>) {
  [[maybe_unused]] const bool done[] = {true, (marked[index_of_name(N::view(), table)] = true)...};
}
template <std::size_t Size, class Entry>
constexpr std::array<bool, Size> no_marks(const std::array<Entry, Size>&) {
  return {};
}

/// The marked entries of a table as Names, in its order. Marks has the members `table` and `marked`, an array of bool.
/// Marks replace lists that grow name by name: those cost compile time quadratic in the chain's length.
template <class Marks>
class MarkedNames {
  static constexpr auto indices = marked_indices<count_marked(Marks::marked)>(Marks::marked);
  template <std::size_t I>
  using name_at = Name<FixedString<Marks::table[indices[I]].size() + 1>{Marks::table[indices[I]]}>;
  template <std::size_t... I>
  static constexpr auto names(std::index_sequence<I...>) {
    return Names<name_at<I>...>{};
  }

 public:
  using type = decltype(names(std::make_index_sequence<indices.size()>{}));
};

/// The entries of an executor's tables that two Lists contain.
template <class E, class FetchList, class TargetList>
struct MarksOf {
  struct Fetched {
    static constexpr const auto& table = E::fetchable;
    static constexpr auto marked = [] {
      auto marks = no_marks(E::fetchable);
      mark(marks, E::fetchable, FetchList{});
      return marks;
    }();
  };
  struct Run {
    static constexpr const auto& table = E::targets;
    static constexpr auto marked = [] {
      auto marks = no_marks(E::targets);
      mark(marks, E::targets, TargetList{});
      return marks;
    }();
  };
};

/// M: a MarksOf or Wanted.
template <class M>
using demand_of = Demand<typename MarkedNames<typename M::Fetched>::type, typename MarkedNames<typename M::Run>::type>;

/// The demand that fetches and runs the names of two Lists, which may contain duplicates in any order.
template <class E, class FetchList, class TargetList>
using demand_for = demand_of<MarksOf<E, FetchList, TargetList>>;

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

/// The names requested by the caller (Args), by all unconditional hooks, and by Extra.
template <class E, class Args, class RequestedList, class... Extra>
struct Wanted;
template <class E, class Args, class... Requested, class... Extra>
struct Wanted<E, Args, List<Requested...>, Extra...> {
  struct Fetched {
    static constexpr const auto& table = E::fetchable;
    static constexpr auto marked = [] {
      auto marks = no_marks(E::fetchable);
      mark(marks, E::fetchable, typename NamesIn<Args>::fetches{});
      [[maybe_unused]] const bool done[] = {
          true,
          (Requested::conditional
               ? void()
               : mark(marks, E::fetchable, typename NamesIn<typename Requested::args_type>::fetches{}),
           true)...,
          (mark(marks, E::fetchable, typename NamesIn<Extra>::fetches{}), true)...};
      return marks;
    }();
  };
  struct Run {
    static constexpr const auto& table = E::targets;
    static constexpr auto marked = [] {
      auto marks = no_marks(E::targets);
      mark(marks, E::targets, typename NamesIn<Args>::targets{});
      [[maybe_unused]] const bool done[] = {
          true,
          (Requested::conditional ? void()
                                  : mark(marks, E::targets, typename NamesIn<typename Requested::args_type>::targets{}),
           true)...,
          (mark(marks, E::targets, typename NamesIn<Extra>::targets{}), true)...};
      return marks;
    }();
  };
};

/// The plans of one kind of run. `Requested...` are the chain's HookRequest types in order; `Args` is the caller's
/// request.
template <class E, class Args, class... Requested>
class Plans {
  template <class... Extra>
  using demand_with = demand_of<Wanted<E, Args, List<Requested...>, Extra...>>;

  template <class... S>
  static constexpr auto due_demands(List<S...>) {
    return List<demand_with<S>...>{};
  }
  template <class First, class... Rest>
  static List<Rest...> without_first(List<First, Rest...>);

  template <class... A>
  static List<typename A::args_type...> args_of(List<A...>);
  using Sometimes = decltype(args_of(filtered<Where<Requested::conditional...>, Requested...>{}));
  using BaseThenGroups = decltype(unique(List<demand_with<>>{}, due_demands(Sometimes{})));
  template <class... S>
  static demand_with<S...> with_all(List<S...>);

 public:
  using Base = demand_with<>;
  using All = decltype(with_all(Sometimes{}));
  /// The demands of each group when it is due.
  using Groups = decltype(without_first(BaseThenGroups{}));

  /// The group of a HookRequest: 0 if it adds no name to base, otherwise 1 + its index in Groups.
  template <class A>
  static constexpr std::size_t group_of() {
    if constexpr (A::conditional) {
      return position_in<demand_with<typename A::args_type>>(BaseThenGroups{});
    } else {
      return 0;
    }
  }
};

}  // namespace detail

}  // namespace crochet
