// SPDX-License-Identifier: Apache-2.0
// Planned: the plan of one demand on one graph. Compilers limit the steps of one constant expression (clang: 2^20), so
// every stage is a separate constant, and there are enough stages for deep models.
#pragma once
#include <algorithm>

#include <crochet/base/instruction_set.hpp>
#include <crochet/executor/plan/tables.hpp>
#include <crochet/graph/core/constexpr_vector.hpp>

namespace crochet::cpu::CROCHET_ISA {

namespace detail {
template <class Plan>
constexpr std::size_t count_variables(const Plan& plan) {
  std::size_t n = 0;
  for (const Value& v : plan.values) n += v.space == AddressSpace::variable ? 1U : 0U;
  return n;
}
template <std::size_t N, class Plan>
constexpr std::array<std::int32_t, N> variable_nodes(const Plan& plan) {
  std::array<std::int32_t, N> nodes{};
  std::size_t n = 0;
  for (const Value& v : plan.values) {
    if (v.space == AddressSpace::variable) nodes[n++] = v.index;
  }
  return nodes;
}
}  // namespace detail

/// T: the tables of the graph. Watch: none, or one WatchedNodes (watched.hpp) with the nodes that probes watch. They
/// are treated like fetched values, each until it has been shown.
template <class T, class D, class... Watch>
struct Planned;
template <class T, class... F, class... R, class... Watch>
struct Planned<T, Demand<Names<F...>, Names<R...>>, Watch...> {
 private:
  static constexpr std::size_t fetches = (sizeof...(F) + ... + Watch::nodes.size());
  static constexpr ConstexprVector<int> fetched_nodes() {
    ConstexprVector<int> ids{T::template node_id<F>...};
    [[maybe_unused]] const auto add = [&](const auto& watched) {
      for (const int id : watched) ids.push_back(id);
    };
    (add(Watch::nodes), ...);
    return ids;
  }

  /// The selection may add targets of its own (with_dependencies).
  template <std::size_t N>
  using Selected = FrozenSubgraph<N, fetches, sizeof...(R) + T::graph.nodes.size()>;

  /// The result of `Make` as a Frozen<Room>. If that capacity, which usually suffices, is too small: with the capacity
  /// needed.
  template <template <std::size_t> class Frozen, std::size_t Room, class Make>
  struct Rest {
    static constexpr Frozen<Room> made{Make{}()};
  };
  template <template <std::size_t> class Frozen, std::size_t Room, class Make>
  static constexpr const auto& freeze(Make) {
    if constexpr (Rest<Frozen, Room, Make>::made.fits()) {
      return Rest<Frozen, Room, Make>::made;
    } else {
      return Rest<Frozen, Rest<Frozen, Room, Make>::made.needed(), Make>::made;
    }
  }
  /// As above, if the pass has an effect; otherwise the previous result.
  template <bool Changes, template <std::size_t> class Frozen, class Before, class Make>
  static constexpr const auto& change(const Before& before, Make make) {
    if constexpr (Changes) {
      return freeze<Frozen, Before::room + Before::room / 8>(make);
    } else {
      return before;
    }
  }

 public:
  // Stages used by other headers: the nodes of the demand, their final form, and their groups.
  static constexpr const auto& selected = freeze<Selected, T::graph.nodes.size()>(
      [] { return select_nodes(T::graph, fetched_nodes(), ConstexprVector<int>{T::template node_id<R>...}); });

 private:
  template <std::size_t N>
  using Nodes = FrozenSubgraph<N, fetches, selected.targets.count>;

  static constexpr const auto& folded =
      freeze<Nodes, selected.needed() + selected.needed() / 4 + 4>([] { return fold(selected.view()); });
  static constexpr const auto& shared = freeze<Nodes, folded.needed()>([] { return share_nodes(folded.view()); });
  static constexpr bool moves_pools = !(Watch::sees_winners || ...) && has_pools(shared.view());
  static constexpr const auto& simplified =
      change<moves_pools, Nodes>(shared, [] { return move_pools(shared.view()); });
  static constexpr bool widens = !T::reads_bfloat16 && has_stored_operands(simplified.view());
  static constexpr const auto& readable =
      change<widens, Nodes>(simplified, [] { return widen_operands(simplified.view()); });

 public:
  static constexpr const auto& complete =
      change<needs_copies(readable.view()), Nodes>(readable, [] { return add_copies(readable.view()); });

 private:
  static constexpr std::size_t nodes = complete.needed();

  template <std::size_t M>
  using Groups = FrozenSchedule<nodes, M>;
  static constexpr const auto& fused = freeze<Groups, 2 * nodes>([] { return fuse(complete.view()); });
  static constexpr FrozenList<char, fused.groups()> itemwise{find_itemwise(complete.view(), fused.to_mutable())};
  static constexpr bool has_itemwise =
      T::by_items && std::any_of(itemwise.begin(), itemwise.end(), [](char can) { return can != 0; });
  static constexpr const auto& by_items = change<has_itemwise, Groups>(
      fused, [] { return order_by_items(complete.view(), fused.to_mutable(), itemwise.data()); });

 public:
  static constexpr bool gathers = !T::by_items && has_waiting_exchanges(complete.view());
  static constexpr const auto &ordered = change < gathers || has_overlaps(complete.view()),
                              Groups > (by_items, [] {
                                return order_by_exchanges(complete.view(), by_items.to_mutable(), gathers);
                              });
  static constexpr FrozenPlaces<nodes, ordered.groups()> places{
      find_places(complete.view(), ordered.to_mutable(), T::by_items)};

  /// For each watched value the step after which it is shown.
  template <class W>
  static constexpr auto shown_behind = W::shown_behind(complete.view(), ordered.to_mutable(), places, sizeof...(F));

 private:
  /// For each fetched value the step after which it is not needed; watched values follow the others.
  static constexpr ConstexprVector<int> until() {
    ConstexprVector<int> steps;
    if constexpr (sizeof...(Watch) > 0) {
      steps.assign(sizeof...(F), -1);
      const auto behind = [&](const auto& shown) {
        for (const int step : shown) {
          steps.push_back(step < 0 || step == static_cast<int>(ordered.groups()) ? -1 : step);
        }
      };
      (behind(shown_behind<Watch>), ...);
    }
    return steps;
  }

  template <std::size_t Room>
  using Roomy =
      FrozenPlan<PlanSizes{ordered.groups(), Room, Room, nodes, places.slots.size(), places.items.size(), fetches}>;
  static constexpr std::size_t roominess = 2 * ordered.needed() + 4 * ordered.groups() + 4;
  /// A plan with watches is larger than others, so its programs are written in several stages.
  template <std::size_t Part, std::size_t Parts>
  struct Programs {
    static constexpr std::size_t first = ordered.groups() * Part / Parts, last = ordered.groups() * (Part + 1) / Parts;
    static constexpr const auto& made = freeze<Roomy, roominess>([] {
      Plan so_far;
      if constexpr (Part > 0) so_far = Programs<Part - 1, Parts>::made.to_mutable();
      const Places where = places.to_mutable();
      Plan plan = write_programs(complete.view(), ordered.to_mutable(), where.memory, std::move(so_far), first, last);
      if constexpr (Part + 1 == Parts) {
        return with_regions(std::move(plan), where);
      } else {
        return plan;
      }
    });
  };
  static constexpr const auto& make_roomy() {
    if constexpr (sizeof...(Watch) == 0) {
      return freeze<Roomy, roominess>(
          [] { return write_plan(complete.view(), ordered.to_mutable(), places.to_mutable()); });
    } else {
      return Programs<2, 3>::made;
    }
  }
  static constexpr const auto& roomy = make_roomy();
  static constexpr decltype(auto) finished() {
    if constexpr (sizeof...(Watch) == 0) {
      return (roomy);
    } else {
      return finish_plan(roomy, until());
    }
  }

 public:
  static constexpr FrozenPlan<roomy.sizes()> plan{finished()};

  /// For each value of the plan that is a variable, the variable's node. May contain a node several times.
  static constexpr auto nodes_of_variables = detail::variable_nodes<detail::count_variables(plan)>(plan);
};

}  // namespace crochet::cpu::CROCHET_ISA
