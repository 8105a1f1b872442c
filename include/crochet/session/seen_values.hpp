// SPDX-License-Identifier: Apache-2.0
// SeenValues: the values that the caller and all hooks requested in one run, for a hook that records them.
#pragma once

#include <cstddef>
#include <string_view>
#include <type_traits>
#include <utility>

#include <crochet/base/name.hpp>
#include <crochet/hook/hook_slot.hpp>
#include <crochet/hook/run_args.hpp>
#include <crochet/session/demand.hpp>

namespace crochet {

/// The values of one run for a hook that `sees_all_values` (hook/sees_all_values.hpp). `Args` is the caller's request,
/// `AllRequests` the requests of all hooks. Values are read when they are visited. Valid until the next run.
template <class E, class Args, class AllRequests>
class SeenValues;
template <class E, class Args, std::size_t... I, class... Requested>
class SeenValues<E, Args, detail::HookRequests<std::index_sequence<I...>, Requested...>> {
  using AllRequests = detail::HookRequests<std::index_sequence<I...>, Requested...>;
  using Fetched = typename detail::Plans<E, Args, Requested...>::All;

 public:
  constexpr SeenValues(E& executor, typename E::Workspace& workspace, const AllRequests& requests)
      : executor_(executor), workspace_(workspace), requests_(requests) {}

  /// Calls `visit(name, value)` for each value that the caller or a due hook requested, once, in the order of the
  /// executor's names. Cost: a fetch for each value.
  template <class Visit>
  void for_each(Visit&& visit) const {
    visit_all(visit, static_cast<Fetched*>(nullptr));
  }
  /// Calls `visit(name)` for each target of the caller's request.
  template <class Visit>
  static void for_each_target(Visit&& visit) {
    visit_targets(visit, static_cast<Args*>(nullptr));
  }

 private:
  template <class N, class... F>
  static constexpr bool lists(Fetches<F...>) {
    return (std::is_same_v<N, F> || ...);
  }
  template <class N, class A>
  static constexpr bool requests_name = lists<N>(typename A::fetches_type{});

  template <class N>
  [[nodiscard]] constexpr bool is_due() const {
    return requests_name<N, Args> ||
           (... || (requests_name<N, typename Requested::args_type> && detail::request_at<I>(requests_).due()));
  }
  template <class N, class Visit>
  void visit_one(Visit& visit) const {
    if (is_due<N>()) visit(N::view(), executor_.template fetch<N>(workspace_));
  }
  template <class Visit, class... N, class T>
  void visit_all([[maybe_unused]] Visit& visit, Demand<Names<N...>, T>*) const {
    (visit_one<N>(visit), ...);
  }
  template <class Visit, class F, class... T, class X>
  static void visit_targets([[maybe_unused]] Visit& visit, RunArgs<F, Targets<T...>, X>*) {
    (visit(T::view()), ...);
  }

  E& executor_;
  typename E::Workspace& workspace_;
  const AllRequests& requests_;
};

namespace detail {

/// The type with which after_run of a hook that sees all values is checked, before the requests are known.
template <class E, class Args>
using SeenInBareRun = const SeenValues<E, Args, HookRequests<std::index_sequence<>>>;

}  // namespace detail

}  // namespace crochet
