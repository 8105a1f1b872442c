// SPDX-License-Identifier: Apache-2.0
// The fixed-size form of a schedule and of memory locations, kept between two passes.
#pragma once
#include <crochet/graph/core/constexpr_vector.hpp>
#include <crochet/graph/core/frozen_list.hpp>
#include <crochet/graph/passes/item_memory.hpp>

namespace crochet {

/// A schedule of up to N nodes, with up to M entries in all groups (a floating node may have several).
template <std::size_t N, std::size_t M>
class FrozenSchedule {
 public:
  static constexpr std::size_t room = M;
  constexpr explicit FrozenSchedule(const Schedule& s) : home_(s.home), stored_(s.stored), base_(s.base) {
    for (const Group& q : s.groups) {
      if (groups_ < N) heads_[groups_] = {q.root, q.shape, q.cuts, q.panels, q.reduces, q.nodes.size()};
      ++groups_;
      const int* const nodes = q.nodes.data();
      const std::size_t count = q.nodes.size();
      for (std::size_t i = 0; i < count && members_ + i < M; ++i) member_[members_ + i] = nodes[i];
      members_ += count;
    }
  }

  constexpr bool fits() const { return groups_ <= N && members_ <= M; }
  constexpr std::size_t groups() const { return groups_; }
  constexpr std::size_t needed() const { return members_; }

  constexpr Schedule to_mutable() const {
    Schedule s;
    s.groups.reserve(groups_);
    const int* next = member_;
    for (std::size_t q = 0; q < groups_; ++q) {
      const Head& h = heads_[q];
      s.groups.push_back({h.root, h.shape, h.cuts, {next, next + h.nodes}, h.panels, h.reduces});
      next += h.nodes;
    }
    s.home = home_.to_mutable();
    s.stored = stored_.to_mutable();
    s.base = base_.to_mutable();
    return s;
  }

 private:
  struct Head {
    int root = -1;
    Shape shape;
    SplitPoints cuts = 0;
    bool panels = false, reduces = false;
    std::size_t nodes = 0;
  };
  Head heads_[N == 0 ? 1 : N]{};
  int member_[M == 0 ? 1 : M]{};
  FrozenList<int, N> home_;
  FrozenList<char, N> stored_;
  FrozenList<int, N> base_;
  std::size_t groups_ = 0, members_ = 0;
};

/// The memory location of every value, and the steps that run item by item.
struct Places {
  MemoryPlan memory;
  ConstexprVector<ItemSteps> items;
  ConstexprVector<int> region_of;  ///< by step
};

/// The locations of up to N nodes in up to G groups.
template <std::size_t N, std::size_t G>
struct FrozenPlaces {
  FrozenList<Value, N> values;
  FrozenList<ArenaSlot, N> slots;
  FrozenList<ItemSteps, G> items;
  FrozenList<int, G> region_of;

  constexpr explicit FrozenPlaces(const Places& p)
      : values(p.memory.values), slots(p.memory.slots), items(p.items), region_of(p.region_of) {}
  constexpr Places to_mutable() const {
    return {{values.to_mutable(), slots.to_mutable()}, items.to_mutable(), region_of.to_mutable()};
  }
};

}  // namespace crochet
