// SPDX-License-Identifier: Apache-2.0
// WatchRules: the rules by which launches check values. The index of a rule is that of its flag.
#pragma once
#include <cstddef>
#include <limits>
#include <optional>
#include <vector>

#include <crochet/hook/value_rules.hpp>
#include <crochet/kernels/cuda/table.hpp>

namespace crochet::cuda {

/// A rule of a value, as device code checks it.
struct WatchedRule {
  std::size_t name = 0;  ///< the value, by its index in `fetchable`
  WatchRule rule = WatchRule::finite;
  double lowest = 0, highest = 0;
  bool fails = false;  ///< as FiniteRule::fails

  bool checks_as(const WatchedRule& other) const {
    return name == other.name && rule == other.rule && lowest == other.lowest && highest == other.highest;
  }
};
inline WatchedRule watched_rule(std::size_t name, const FiniteRule& rule) {
  return {name, rule.allow_infinity ? WatchRule::number : WatchRule::finite, 0, 0, rule.fails};
}
inline WatchedRule watched_rule(std::size_t name, const BoundsRule& rule) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  return {name, WatchRule::bounds, rule.lowest.value_or(-infinity), rule.highest.value_or(infinity), false};
}

/// T: the tables of the graph.
template <class T>
class WatchRules {
 public:
  /// Room for both finite rules of each value, and for 32 pairs of bounds.
  static constexpr std::size_t most = 2 * T::fetchable.size() + 32;

  const std::vector<WatchedRule>& list() const { return list_; }
  /// Adds the rule, unless it is there. Returns its flag; empty if there is no room.
  std::optional<std::size_t> add(const WatchedRule& rule) {
    std::size_t flag = 0;
    while (flag < list_.size() && !list_[flag].checks_as(rule)) ++flag;
    if (flag == most) return std::nullopt;
    if (flag == list_.size()) list_.push_back(rule);
    list_[flag].fails = list_[flag].fails || rule.fails;
    return flag;
  }
  /// Whether a rule is there whose violation is no failure.
  bool any_quiet() const {
    for (const WatchedRule& r : list_) {
      if (!r.fails) return true;
    }
    return false;
  }

 private:
  std::vector<WatchedRule> list_;
};

}  // namespace crochet::cuda
