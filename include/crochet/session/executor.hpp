// SPDX-License-Identifier: Apache-2.0
// The interface between a session and an executor: names with types, and `run`. A graph on a CPU or GPU is an Executor,
// and so is a user's step function (crochet/executor/step/step_executor.hpp).
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include <crochet/base/name.hpp>
#include <crochet/hook/value_rules.hpp>

namespace crochet {

namespace detail {

template <class T>
concept NameTable = requires(const T& table) {
  { table.size() } -> std::convertible_to<std::size_t>;
  table.begin();
  table.end();
};

template <class Table>
constexpr std::size_t index_of_name(std::string_view name, const Table& table) {
  std::size_t index = 0;
  for (const std::string_view candidate : table) {
    if (candidate == name) return index;
    ++index;
  }
  return index;
}
template <class Table>
constexpr bool has_name(std::string_view name, const Table& table) {
  return index_of_name(name, table) < table.size();
}

}  // namespace detail

/// An executor has
/// - `Workspace`: the memory of one run; default-constructible and movable;
/// - `fetchable`, `feedable`, `targets`: static constexpr std::array<std::string_view, n>, the names by role;
/// - `fetched_t<N>`: the type in which the value of name N is returned, float or TensorView<float, 2> for example;
/// - `accepts_feed<N, X>`: whether an X may be fed to the placeholder N, and `fed_t<N>`, its element type; for errors
///   optionally `fed_rank<N>`, an int, its number of dimensions;
/// - `run<Demand>(workspace, feeds...)`: computes the names in the Demand, from const Feed<N, X>&...;
/// - `fetch<N>(workspace)`: a value of the last run on that workspace, valid until its next run. Called only when a
///   hook or caller reads the value, so a device copies and synchronizes here.
/// An executor may have
/// - `initialize()`: called when a session is created, the first one and after each failure that it recovers from;
/// - `close()`: called when a session is over: closed, failed, or lost before it is recreated;
/// - `fetch_is_free<N>`: true if fetching the number N only reads memory, at any time after the run. It is then read
///   once for all hooks with an unconditional request for it;
/// - `global_step() const`: otherwise the session counts the runs with hooks;
/// - `takes_probes`, a static constexpr bool, and `run_probed<Demand>(workspace, probes, feeds...)`: run, with calls of
///   the DueProbes `probes` (hook/due_probes.hpp) as specified in graph/probe/probe.hpp. Without it hooks cannot
///   instrument a step;
/// - `has_node_for<W>`, a static constexpr bool: whether the watches W of a probe match any node. If they match none
///   and have a pattern, it is a compile error;
/// - `violation<N>(workspace, rule)` and `finish_watch<N>` of the same: it checks values by the rule itself, which is a
///   FiniteRule or a BoundsRule (hook/value_rules.hpp). It reports the first run that violates it, possibly in a later
///   run, as a std::optional<Violation>, and skips the runs behind it;
/// - with these, `settle()`: when it returns, global_step() is that of the last run that is executed. A session calls
///   this before `end`; and `skipped(workspace)`: whether the last run was skipped. Both may wait;
/// - `needs_target`, a static constexpr bool: true if a run that names no target and fetches nothing computes nothing,
///   as for a model. Such a run then does not compile;
/// - `checks_feeds`, a static constexpr bool, and `feeds_reason<Demand>(Names<Fed...>)`, static constexpr: the reason
///   why the Demand cannot run with feeds of these names, for example a missing feed, as a std::type_identity of a
///   crochet::error. It is reported at the call of `run`;
/// - `extended_by<Hooks...>`: the executor whose graph every Hook::extend_graph extended, constructible from this one.
/// Any member may throw; the session propagates the exception.
template <class E>
concept Executor =
    std::is_default_constructible_v<typename E::Workspace> && detail::NameTable<decltype(E::fetchable)> &&
    detail::NameTable<decltype(E::feedable)> && detail::NameTable<decltype(E::targets)>;

namespace detail {

template <class E>
concept Initializes = requires(E& executor) {
  executor.initialize();
};
template <class E>
concept Closes = requires(E& executor) {
  executor.close();
};
template <class E>
concept TakesProbes = requires {
  requires E::takes_probes;
};
template <class E>
concept NeedsTarget = requires {
  requires E::needs_target;
};
template <class E>
concept ChecksFeeds = requires {
  E::checks_feeds;
};
template <class E>
concept CountsSteps = requires(const E& executor) {
  { executor.global_step() } -> std::convertible_to<std::int64_t>;
};

template <class E, class N, class Rule>
concept ChecksRule = requires(E& executor, typename E::Workspace& workspace, const Rule& rule) {
  executor.template violation<N>(workspace, rule);
};
template <class E>
concept SkipsRuns = requires(E& executor, typename E::Workspace& workspace) {
  executor.settle();
  { executor.skipped(workspace) } -> std::convertible_to<bool>;
};

template <class E, class N>
inline constexpr bool can_fetch = has_name(N::view(), E::fetchable);
template <class E, class N>
inline constexpr bool can_feed = has_name(N::view(), E::feedable);
template <class E, class N>
inline constexpr bool can_run = has_name(N::view(), E::targets);

}  // namespace detail

}  // namespace crochet
