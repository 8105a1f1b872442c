// SPDX-License-Identifier: Apache-2.0
// The nodes of a demand that probes watch, and the step after which each of them can be shown. All of it is computed at
// compile time, and only for probes that watch tensors.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>

#include <crochet/base/instruction_set.hpp>
#include <crochet/executor/plan/planned.hpp>
#include <crochet/graph/core/constexpr_vector.hpp>
#include <crochet/graph/names/node_names.hpp>
#include <crochet/graph/probe/probe_calls.hpp>
#include <crochet/hook/due_probes.hpp>

namespace crochet::cpu::CROCHET_ISA {

namespace detail {

template <const auto& Table>
using Marks = std::array<bool, Table.size()>;

/// The nodes that the demand needs and that have a value. E: the executor, Base: the plan without watches.
template <class E, class Base>
inline constexpr auto demanded = [] {
  Marks<crochet::detail::TableOf<E>::nodes> marks{};
  const auto g = Base::selected.view();
  const Node* const nodes = g.nodes.data();
  for (std::size_t i = 0; i < g.nodes.size(); ++i) {
    if (nodes[i].op->kind != OpKind::group) marks.data()[nodes[i].origin] = true;
  }
  return marks;
}();

/// The nodes that W matches, in several constants because compilers limit the steps of one constant expression.
template <class E, class Base, class W>
struct Matches {
 private:
  static constexpr const auto& table = crochet::detail::TableOf<E>::nodes;
  using Names = NodeNames<crochet::detail::TableOf<E>::nodes>;
  static constexpr std::size_t some = 64;

  template <std::size_t First>
  static constexpr auto part = [] {
    std::array<bool, some> marks{};
    for (std::size_t i = First; i < table.size() && i < First + some; ++i) {
      if (demanded<E, Base>.data()[i]) marks[i - First] = crochet::detail::watch_matches<W>(Names::of(i), table[i]);
    }
    return marks;
  }();

 public:
  static constexpr auto marks = []<std::size_t... P>(std::index_sequence<P...>) {
    Marks<crochet::detail::TableOf<E>::nodes> all{};
    const auto copy = [&](std::size_t first, const std::array<bool, some>& marked) {
      for (std::size_t i = first; i < all.size() && i < first + some; ++i) all[i] = marked[i - first];
    };
    (copy(P * some, part<P * some>), ...);
    return all;
  }
  (std::make_index_sequence<(table.size() + some - 1) / some>{});
};

/// Whether probe P watches the node.
template <class E, class Base, class P>
constexpr bool watches(std::size_t node) {
  if constexpr (crochet::detail::Watches<P>) {
    return Matches<E, Base, typename P::watches>::marks[node];
  } else {
    return false;
  }
}

template <std::size_t N, class Marks>
constexpr std::array<std::int32_t, N> marked_nodes(const Marks& marks) {
  std::array<std::int32_t, N> list{};
  std::size_t n = 0;
  for (std::size_t i = 0; i < marks.size(); ++i) {
    if (marks[i]) list[n++] = static_cast<std::int32_t>(i);
  }
  return list;
}

}  // namespace detail

/// The nodes that at least one of the probes watches.
template <class T, class E, class Base, class... P>
struct WatchedNodes {
 private:
  template <class Accept>
  static constexpr auto marked(Accept accept) {
    detail::Marks<crochet::detail::TableOf<E>::nodes> marks{};
    for (std::size_t i = 0; i < marks.size(); ++i) {
      marks[i] = (detail::watches<E, Base, P>(i) || ...) && accept(*T::graph.nodes[i].op);
    }
    return marks;
  }
  static constexpr auto computed_marks = marked([](const Op& o) { return o.kind != OpKind::source; });
  static constexpr auto source_marks = marked([](const Op& o) { return o.kind == OpKind::source; });

 public:
  /// `nodes`: the watched nodes that a step computes. `sources`: those that exist before the first step.
  static constexpr auto nodes = detail::marked_nodes<crochet::detail::count_marked(computed_marks)>(computed_marks);
  static constexpr auto sources = detail::marked_nodes<crochet::detail::count_marked(source_marks)>(source_marks);

  /// Whether the pass pool_first must not run: it may select another winner of a window where that does not affect any
  /// gradient, which would be visible if winners are watched.
  static constexpr bool sees_winners = [] {
    for (const std::int32_t node : nodes) {
      const Node& n = T::graph.nodes.data()[node];
      if (n.is(op::max_pool_winners) || n.is(op::max_pool_gradient)) return true;
    }
    return false;
  }();

  /// For each of `nodes` the step after which it is shown: -1 before the first, the number of steps after the run. A
  /// value is shown after the values that it is computed from in the model's graph, because a step may recompute a
  /// value for a reader before the value itself is stored. Assigned values are shown last.
  template <class Places>
  static constexpr auto shown_behind(const SubgraphView& g, const Schedule& s, const Places& places,
                                     std::size_t first) {
    const auto steps = static_cast<int>(s.groups.size());
    ConstexprVector<int> behind(T::graph.nodes.size(), -1);
    for (std::size_t k = 0; k < nodes.size(); ++k) {
      int q = s.home.data()[s.base.data()[g.fetched.data()[first + k]]];
      // A region counts as one step, because a few items at a time are taken through all of it.
      while (q >= 0 && q + 1 < steps && places.region_of[static_cast<std::size_t>(q)] >= 0 &&
             places.region_of[static_cast<std::size_t>(q) + 1] == places.region_of[static_cast<std::size_t>(q)]) {
        ++q;
      }
      behind[static_cast<std::size_t>(nodes[k])] = q;
    }
    const Node* const all = T::graph.nodes.data();
    for (std::size_t i = 0; i < behind.size(); ++i) {
      int& mine = behind.data()[i];
      if (all[i].op->kind == OpKind::assign) mine = steps;
      for (std::size_t k = 0; k < max_inputs && all[i].inputs[k] >= 0; ++k) {
        const int in = behind.data()[all[i].inputs[k]];
        if (in > mine) mine = in;
      }
    }
    std::array<int, nodes.size()> shown{};
    for (std::size_t k = 0; k < nodes.size(); ++k) shown[k] = behind[static_cast<std::size_t>(nodes[k])];
    return shown;
  }
};

}  // namespace crochet::cpu::CROCHET_ISA
