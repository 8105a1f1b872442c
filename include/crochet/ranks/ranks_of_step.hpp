// SPDX-License-Identifier: Apache-2.0
// RanksOfStep: what a step function on one of several ranks computes over all of them.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

#include <crochet/ranks/communicator.hpp>
#include <crochet/ranks/rank_group.hpp>
#include <crochet/ranks/roll_call.hpp>

namespace crochet::detail {

/// A handle. A number is sent in the roll call itself, so a rank that does not come is an error and no wait.
template <Communicator C>
class RanksOfStep {
 public:
  explicit RanksOfStep(RankGroup<C>& group) : group_(&group) {}

  template <class T>
  [[nodiscard]] T sum(T x) const {
    return tree_sum<T>(of_all("sum in a step", x));
  }
  template <class T>
  void sum(std::span<T> values) const {
    group_->meet({.kind = group_->kind_of("sums in a step") + values.size()});
    group_->sum(values);
  }
  template <class T>
  [[nodiscard]] T min(T x) const {
    return best_of<T>(of_all("min in a step", x), [](T a, T b) { return a < b; });
  }
  template <class T>
  [[nodiscard]] T max(T x) const {
    return best_of<T>(of_all("max in a step", x), [](T a, T b) { return a > b; });
  }

 private:
  using All = std::span<const Presence>;

  template <class T>
  All of_all(std::string_view what, T x) const {
    Presence mine{.kind = group_->kind_of(what)};
    std::memcpy(&mine.bits, &x, sizeof x);
    return group_->meet(mine);
  }
  template <class T>
  static T number(const Presence& p) {
    T x{};
    std::memcpy(&x, &p.bits, sizeof x);
    return x;
  }
  /// Along the tree of OrderedSum (tree_sum.hpp).
  template <class T>
  static T tree_sum(All all) {
    if (all.size() == 1) return number<T>(all[0]);
    const std::size_t half = std::bit_ceil(all.size()) / 2;
    return static_cast<T>(tree_sum<T>(all.first(half)) + tree_sum<T>(all.subspan(half)));
  }
  template <class T, class Better>
  static T best_of(All all, Better better) {
    T best = number<T>(all[0]);
    for (const Presence& p : all.subspan(1)) {
      const T x = number<T>(p);
      const bool is_nan = !(x == x);
      if (better(x, best) || is_nan) best = x;
    }
    return best;
  }

  RankGroup<C>* group_;
};

}  // namespace crochet::detail
