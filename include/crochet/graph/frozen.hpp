// SPDX-License-Identifier: Apache-2.0
// The stages from a model to a plan, and the fixed-size form of a graph. Vectors cannot outlive a constant expression,
// so the graph is built twice, for its size and for its content, and then copied to arrays.
#pragma once
#include <array>
#include <type_traits>
#include <utility>

#include <crochet/graph/core/builder.hpp>
#include <crochet/graph/core/constexpr_vector.hpp>
#include <crochet/graph/passes/assignments.hpp>
#include <crochet/graph/passes/barriers.hpp>
#include <crochet/graph/passes/fold.hpp>
#include <crochet/graph/passes/frozen_schedule.hpp>
#include <crochet/graph/passes/frozen_subgraph.hpp>
#include <crochet/graph/passes/insert_copies.hpp>
#include <crochet/graph/passes/lifetimes.hpp>
#include <crochet/graph/passes/order.hpp>
#include <crochet/graph/passes/order_by_exchanges.hpp>
#include <crochet/graph/passes/pool_first.hpp>
#include <crochet/graph/passes/program.hpp>
#include <crochet/graph/passes/prune.hpp>
#include <crochet/graph/passes/share.hpp>
#include <crochet/graph/passes/widen_operands.hpp>

namespace crochet {

namespace detail {
template <class T, std::size_t N>
constexpr std::array<T, N> exact(const T* from) {
  std::array<T, N> to{};
  T* const into = to.data();
  for (std::size_t i = 0; i < N; ++i) into[i] = from[i];
  return to;
}
}  // namespace detail

/// A finished graph; it cannot be extended.
template <std::size_t N, std::size_t M, std::size_t S, std::size_t C>
struct FrozenGraph {
  std::array<Node, N> nodes;
  std::array<PooledName, M> names;
  std::array<PooledName, S> symbols;
  std::array<char, C> text;

  constexpr std::string_view text_of(const PooledName& p) const {
    return {text.data() + p.begin, static_cast<std::size_t>(p.length)};
  }
};

/// The session's final graph: `Model::define`, then every `Extension::extend_graph` in order.
template <class Model, class... Extensions>
constexpr Graph build_graph() {
  GraphBuilder g;
  Model::define(g);
  (Extensions::extend_graph(g), ...);
  return g.graph();
}

namespace detail {
// Repeats the code of build_graph, because calling it would add a line to every compile error.
template <class Model, class... Extensions>
constexpr std::array<std::size_t, 4> graph_sizes() {
  GraphBuilder g;
  Model::define(g);
  (Extensions::extend_graph(g), ...);
  return {g.graph().nodes.size(), g.graph().names.size(), g.graph().symbols.size(), g.graph().text.size()};
}
/// The type has a `define` that can be called with a GraphBuilder&.
template <class Model>
concept Defines = requires(GraphBuilder& g) {
  Model::define(g);
};
/// The graph can be built. Checked before use, so that a mistake in a model causes one error and not several.
template <class Model, class... Extensions>
concept Builds = Defines<Model> && requires {
  typename std::bool_constant<(graph_sizes<Model, Extensions...>(), true)>;
};
}  // namespace detail

template <class Model, class... Extensions>
constexpr auto freeze_graph() {
  if constexpr (detail::Builds<Model, Extensions...>) {
    constexpr std::array<std::size_t, 4> n = detail::graph_sizes<Model, Extensions...>();
    const Graph g = build_graph<Model, Extensions...>();
    return FrozenGraph<n[0], n[1], n[2], n[3]>{
        detail::exact<Node, n[0]>(g.nodes.data()), detail::exact<PooledName, n[1]>(g.names.data()),
        detail::exact<PooledName, n[2]>(g.symbols.data()), detail::exact<char, n[3]>(g.text.data())};
  } else {
    // The compiler's message shows the graph_error and the model's line that leads to it. Each compiler reports this
    // form once; clang would report the second one twice, g++ the first.
#if defined(__clang__)
    static_assert(detail::graph_sizes<Model, Extensions...>()[0] > 0, "crochet: this model is wrong.");
#else
    [[maybe_unused]] constexpr auto this_model_is_wrong = detail::graph_sizes<Model, Extensions...>();
#endif
    return FrozenGraph<0, 0, 0, 0>{};
  }
}

/// The part of a graph that computes `fetched` and runs `targets` (node ids), with each use of a variable resolved.
template <class G, class Ids>
constexpr Subgraph select_nodes(const G& graph, const Ids& fetched, const Ids& targets) {
  Subgraph s;
  s.nodes.assign(graph.nodes.begin(), graph.nodes.end());
  Node* const nodes = s.nodes.data();
  for (int i = 0; i < static_cast<int>(s.nodes.size()); ++i) {
    nodes[i].origin = i;
  }
  s.fetched.assign(fetched.begin(), fetched.end());
  s.targets.assign(targets.begin(), targets.end());
  return prune(see_assignments(std::move(s)));
}

/// Simplification passes. Three functions, so that each can be a separate constant expression.
constexpr Subgraph share_nodes(const SubgraphView& folded) { return share(folded); }
constexpr Subgraph move_pools(const SubgraphView& shared) { return prune(pool_first(shared)); }
template <class G, class Ids>
constexpr Subgraph simplify(const G& graph, const Ids& fetched, const Ids& targets) {
  const Subgraph selected = select_nodes(graph, fetched, targets);
  const Subgraph folded = fold(selected);
  const Subgraph shared = share_nodes(folded);
  return move_pools(shared);
}

/// Adds the copies needed to run: of values that are overwritten too early, and of broadcasts that no loop can do.
constexpr bool needs_copies(const SubgraphView& simplified) {
  return overwrites_too_early(simplified) || has_no_common_cut(simplified);
}
constexpr Subgraph add_copies(const SubgraphView& simplified) {
  const Subgraph kept = insert_copies(simplified);
  return materialize_broadcasts(kept);
}

/// The steps, in order.
constexpr Schedule make_schedule(const SubgraphView& g) { return order_by_items(g, fuse(g)); }

/// The regions, unless the device has none, and the memory.
constexpr Places find_places(const SubgraphView& g, const Schedule& schedule, bool by_items = true) {
  const Regions regions = find_regions(g, schedule, by_items);
  Places p{plan_memory(g, schedule, regions), {}, regions.of};
  p.items = plan_item_memory(g, schedule, regions, p.memory);
  return p;
}

/// Adds the regions to a plan that has its programs.
constexpr Plan with_regions(Plan plan, const Places& places) {
  plan.regions = places.items;
  for (std::size_t q = 0; q < plan.steps.size(); ++q) {
    Step& s = plan.steps[q];
    s.region = places.region_of[q];
    if (s.region >= 0 && s.root != nullptr) s.item_inputs = s.root->itemwise(s.attributes);
  }
  return plan;
}

/// The programs, barriers and lifetimes.
constexpr Plan write_plan(const SubgraphView& g, const Schedule& schedule, const Places& places) {
  Plan plan = write_programs(g, schedule, places.memory);
  return find_lifetimes(place_barriers(with_regions(std::move(plan), places)));
}

/// The last part of write_plan, for plans whose stages are separate constants.
template <PlanSizes Room>
constexpr Plan finish_plan(const FrozenPlan<Room>& programs, const ConstexprVector<int>& until) {
  return find_lifetimes(place_barriers(programs.to_mutable()), until);
}

/// All stages at once, for tests and for run time.
constexpr Plan make_plan(const Subgraph& simplified) {
  const Subgraph g = add_copies(simplified);
  const Schedule schedule = make_schedule(g);
  return write_plan(g, schedule, find_places(g, schedule));
}

}  // namespace crochet
