// SPDX-License-Identifier: Apache-2.0
// find_regions: finds runs of groups that can be executed item by item. An item is one entry of the batch. One thread
// takes a few items through all steps of a region before the next few, so intermediate values stay in the core's cache
// and no thread waits for another.
#pragma once

#include <crochet/graph/core/constexpr_vector.hpp>
#include <crochet/graph/passes/fuse.hpp>

namespace crochet {

/// Groups [first, last] of the schedule.
struct TiledRegion {
  int first = 0;
  int last = 0;
};

struct Regions {
  Extent items;  ///< the number of items
  ConstexprVector<TiledRegion> list;
  ConstexprVector<int> of;      ///< by group: its region; -1: none
  ConstexprVector<char> local;  ///< by node: its memory is used within one region only

  /// The range of groups during which memory used by group q must be kept.
  constexpr int begin(int q) const { return q < last_group() && of[detail::at(q)] >= 0 ? region(q).first : q; }
  constexpr int end(int q) const { return q < last_group() && of[detail::at(q)] >= 0 ? region(q).last : q; }

 private:
  constexpr int last_group() const { return static_cast<int>(of.size()); }
  constexpr const TiledRegion& region(int q) const { return list[detail::at(of[detail::at(q)])]; }
};

/// The number of elements of a value per item, for any shape; 0 if the value cannot be split into items.
constexpr std::int64_t elements_per_item(const Shape& shape, const Extent& items) {
  if (shape.rank == 0 || !divides(items, shape[0])) return 0;
  const Extent n = shape.size() / items;
  return n.is_static() ? n.factor : 0;
}

namespace detail {
/// Euclid's algorithm. std::gcd is in <numeric>, a large header.
constexpr std::int64_t greatest_divisor(std::int64_t a, std::int64_t b) {
  while (b != 0) {
    const std::int64_t rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}
/// The greatest extent that divides both.
constexpr Extent common(const Extent& a, const Extent& b) {
  Extent c(greatest_divisor(a.factor, b.factor));
  for (std::size_t s = 0; s < max_symbols; ++s) {
    for (int p = a.power(s) < b.power(s) ? a.power(s) : b.power(s); p > 0; --p) c = c * Extent::symbol(s);
  }
  return c;
}

class RegionFinder {
 public:
  constexpr RegionFinder(const SubgraphView& g, const Schedule& s) : g_(g), s_(s) {
    r_.of.assign(s.groups.size(), -1);
    r_.local.assign(g.nodes.size(), 0);
  }

  constexpr Regions run(bool by_items) {
    if (!by_items) return std::move(r_);
    find_items();
    // A single item is no batch. With a dynamic number of items, which may be 1, the region is run as a whole.
    if (!(r_.items.is_static() && r_.items.factor < 2)) {
      for (int q = 0; q < static_cast<int>(s_.groups.size()); ++q) place(q);
      close(static_cast<int>(s_.groups.size()));
    }
    find_locals();
    return std::move(r_);
  }

  /// By group: whether it could be in a region, regardless of its neighbours.
  constexpr ConstexprVector<char> itemwise_groups() {
    ConstexprVector<char> can(s_.groups.size(), 0);
    find_items();
    if (r_.items.is_static() && r_.items.factor < 2) return can;
    first_ = static_cast<int>(s_.groups.size());
    for (int q = 0; q < first_; ++q) can[at(q)] = itemwise(q) ? 1 : 0;
    return can;
  }

 private:
  constexpr const Node& node(int i) const { return g_.nodes.data()[i]; }
  constexpr int home(int i) const { return s_.home[at(s_.base[at(i)])]; }
  static constexpr unsigned items_of(const Node& n) {
    return n.op->itemwise == nullptr ? 0 : n.op->itemwise(n.attributes);
  }

  /// Finds the batch's size: a common divisor of the first dimensions of placeholders and of everything that can run
  /// item by item. A value without a common factor is ignored.
  constexpr void find_items() {
    // Dynamic dimensions first, and placeholders before computed values, because these are certain to be the batch.
    for (bool is_static : {false, true}) {
      for (const Node& n : g_.nodes) {
        if (n.is(op::placeholder)) meet(n.shape, is_static);
      }
      for (const Group& group : s_.groups) {
        if (group.root >= 0) meet_items_of(node(group.root), is_static);
      }
    }
  }
  constexpr void meet_items_of(const Node& n, bool is_static) {
    const unsigned items = items_of(n);
    if (items != 0) meet(n.shape, is_static);
    for (std::size_t k = 0; k < max_inputs; ++k) {
      if (((items >> k) & 1U) != 0) meet(node(n.inputs[k]).shape, is_static);
    }
  }
  constexpr void meet(const Shape& shape, bool is_static) {
    if (shape.rank == 0 || shape[0].is_static() != is_static) return;
    const Extent items = found_ ? common(r_.items, shape[0]) : shape[0];
    if (items.is_static() && items.factor < 2) return;
    r_.items = items;
    found_ = true;
  }

  constexpr void place(int q) {
    if (first_ < 0) first_ = q;
    if (itemwise(q)) return;
    close(q);
    first_ = q;  // a group that does not fit the open region may begin a new one
    if (!itemwise(q)) first_ = -1;
  }
  /// Closes the open region before group q. A region of one step gains nothing.
  constexpr void close(int q) {
    if (first_ >= 0 && q - first_ >= 2 && worthwhile(q)) {
      for (int k = first_; k < q; ++k) r_.of[at(k)] = static_cast<int>(r_.list.size());
      r_.list.push_back({first_, q - 1});
    }
    first_ = -1;
  }
  constexpr bool worthwhile(int q) const {
    for (int k = first_; k < q; ++k) {
      if (s_.groups[at(k)].root >= 0) return true;
    }
    return false;
  }

  /// Whether group q can run item by item after the groups of the open region.
  constexpr bool itemwise(int q) const {
    const Group& group = s_.groups[at(q)];
    if (elements_per_item(group.shape, r_.items) == 0) return false;
    if (group.root >= 0 && !root_is_itemwise(group)) return false;
    std::size_t cut = 0;
    while (((group.cuts >> cut) & 1U) == 0) ++cut;
    if (group.root >= 0 && !node(group.root).op->has_epilogue()) return true;
    for (int i : group.nodes) {
      const bool each = node(i).op->kind == OpKind::elementwise || node(i).is(op::constant);
      if (!each && !node(i).op->reduces) return false;
      for (int in : node(i).inputs) {
        if (in >= 0 && !reachable(group, in, q, cut)) return false;
      }
    }
    return true;
  }

  constexpr bool root_is_itemwise(const Group& group) const {
    const Node& n = node(group.root);
    const unsigned items = items_of(n);
    if (items == 0) return false;
    // Weights are read again for every few items, so there must be enough work per item.
    constexpr std::int64_t enough_rows = 16;
    const std::int64_t columns = n.shape.rank == 0 ? 1 : n.shape[n.shape.rank - 1].factor;
    if (n.op->panel_inputs != 0 && elements_per_item(n.shape, r_.items) < enough_rows * columns) return false;
    for (std::size_t k = 0; k < max_inputs; ++k) {
      const int in = n.inputs[k];
      if (in < 0) continue;
      if (((items >> k) & 1U) != 0) {
        if (elements_per_item(node(in).shape, r_.items) == 0 || node(in).layout == Layout::panels) return false;
        if (is_total(in) && home(in) >= first_) return false;
      } else if (home(in) >= first_) {
        return false;
      }
    }
    return true;
  }
  /// Whether a value is reduced by a loop over more than its rows. It is then complete only after the last item.
  constexpr bool is_total(int in) const {
    const int i = s_.base[at(in)];
    if (i < 0 || !node(i).op->reduces || s_.home[at(i)] < 0) return false;
    const Group& group = s_.groups[at(s_.home[at(i)])];
    if (group.root >= 0) return false;
    std::size_t cut = 0;
    while (((group.cuts >> cut) & 1U) == 0) ++cut;
    return broadcast_mode(beside_input(node(i), group.shape), group.shape, cut) != BroadcastMode::column;
  }
  /// Whether the loop can read value `in` when it runs item by item.
  constexpr bool reachable(const Group& group, int in, int q, std::size_t cut) const {
    const Node& n = node(in);
    const bool in_hand = s_.home[at(in)] == q || (s_.home[at(in)] < 0 && n.op->kind == OpKind::elementwise);
    if (in_hand || n.is(op::constant)) return true;
    if (is_total(in) && home(in) >= first_) return false;
    const BroadcastMode mode = broadcast_mode(n.shape, group.shape, cut);
    if (mode == BroadcastMode::full) return n.layout == Layout::row_major;
    if (mode == BroadcastMode::column) return true;
    return home(in) < first_;
  }

  constexpr void find_locals() {
    // the region of all users of a value; -2: no user yet, -1: several regions
    ConstexprVector<int> region_of(g_.nodes.size(), -2);
    const auto touch = [&](int i, int q) {
      const auto b = at(s_.base[at(i)]);
      const int region = q < 0 ? -1 : r_.of[at(q)];
      region_of[b] = region_of[b] == -2 || region_of[b] == region ? region : -1;
    };
    for (int q = 0; q < static_cast<int>(s_.groups.size()); ++q) {
      const Group& group = s_.groups[at(q)];
      const auto touch_all = [&](int i) {
        for (int in : node(i).inputs) {
          if (in >= 0) touch(in, q);
        }
        touch(i, q);
      };
      if (group.root >= 0) touch_all(group.root);
      for (int i : group.nodes) touch_all(i);
    }
    for (int f : g_.fetched) touch(f, -1);
    for (std::size_t i = 0; i < g_.nodes.size(); ++i) {
      const OpKind kind = g_.nodes[i].op->kind;
      const bool owned = kind == OpKind::kernel || kind == OpKind::elementwise;
      r_.local[i] = owned && s_.stored[i] != 0 && region_of[i] >= 0 ? 1 : 0;
    }
  }

  SubgraphView g_;
  const Schedule& s_;
  Regions r_;
  int first_ = -1;
  bool found_ = false;  ///< whether r_.items is set
};
}  // namespace detail

/// `by_items`: false for a device that runs no regions; there are none then.
constexpr Regions find_regions(const SubgraphView& g, const Schedule& s, bool by_items = true) {
  return detail::RegionFinder(g, s).run(by_items);
}

}  // namespace crochet
