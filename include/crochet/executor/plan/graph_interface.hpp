// SPDX-License-Identifier: Apache-2.0
// GraphInterface: what the type of a graph's executor states about names and plans (session/executor.hpp), on every
// device.
#pragma once
#include <type_traits>

#include <crochet/base/error.hpp>
#include <crochet/base/instruction_set.hpp>
#include <crochet/base/name.hpp>
#include <crochet/executor/plan/fetched_type.hpp>
#include <crochet/executor/plan/kernel_check.hpp>
#include <crochet/executor/plan/planned.hpp>
#include <crochet/executor/plan/tables.hpp>
#include <crochet/graph/probe/watch_fits.hpp>

namespace crochet::cpu::CROCHET_ISA {

/// The base of executors. T: the tables of the graph. Kernels: the operations that the device has (KernelCheck).
template <class T, class Kernels>
struct GraphInterface {
  static constexpr const auto& graph = T::graph;
  static constexpr const auto& fetchable = T::fetchable;
  static constexpr const auto& feedable = T::feedable;
  static constexpr const auto& targets = T::targets;

  template <class N>
  using fetched_t = typename FetchedType<T::template node<N>().dtype, T::template node<N>().shape.rank>::type;
  template <class N>
  using fed_t = element_t<T::template node<N>().dtype>;
  template <class N>
  static constexpr int fed_rank = static_cast<int>(T::template node<N>().shape.rank);
  template <class D>
  using plan_of = Planned<T, D>;

  /// A run without fetches and targets is an error, and so is a missing feed. Both are reported at the call.
  static constexpr bool needs_target = true, checks_feeds = true;
  template <class D, class... N>
  static constexpr auto feeds_reason(Names<N...> fed) {
    return run_reason<T, Planned<T, D>, Kernels>(fed);
  }

  static constexpr bool takes_probes = true;
  template <class W>
  static constexpr bool has_node_for = crochet::detail::WatchFits<crochet::detail::TableOf<T>::nodes, W>::any;

  /// By variable, in the order of for_each_variable.
  static constexpr const auto& parts_of_variables = T::parts;

 protected:
  /// One compile error if the plan P lacks a feed or a kernel. For a session it is reported where `run` is called.
  template <class P, class... F>
  static constexpr void check_feeds() {
    using Reason = typename decltype(run_reason<T, P, Kernels>(Names<typename F::name...>{}))::type;
    static_assert(call_is_usable<Reason>, "crochet: crochet::error says why");
  }
};

}  // namespace crochet::cpu::CROCHET_ISA
