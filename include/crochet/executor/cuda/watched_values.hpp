// SPDX-License-Identifier: Apache-2.0
// The values of a plan that its launches check by rules.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <crochet/executor/cuda/plan_tables.hpp>
#include <crochet/executor/cuda/watch_rules.hpp>
#include <crochet/executor/cuda/workspace.hpp>
#include <crochet/session/demand.hpp>
#include <crochet/session/executor.hpp>

namespace crochet::cuda {

/// T: the tables of the graph, P: the plan of the demand.
template <class T, class P, class D>
class WatchedValues;
template <class T, class P, class... N, class R>
class WatchedValues<T, P, Demand<Names<N...>, R>> {
 public:
  /// Those of the plan at its sizes whose flag is watched. `rules`: by flag.
  template <class Device>
  static std::vector<WatchedValue> of(const BoundPlan<Device>& plan, const std::vector<WatchedRule>& rules) {
    std::vector<WatchedValue> list;
    [[maybe_unused]] std::size_t i = 0;
    [[maybe_unused]] const auto add = [&](std::size_t name, DType type) {
      const Place place = place_of(plan, i);
      const auto size = static_cast<std::int32_t>(StoredPlan<T, P>::fetched[i++].shape.size().at(plan.dims));
      if (type != DType::float32 && type != DType::float64) return;
      for (std::size_t flag = 0; flag < plan.watch.flags.size(); ++flag) {
        const WatchedRule& r = rules[flag];
        if (!plan.watch.flags[flag] || r.name != name) continue;
        list.push_back({place, size, static_cast<std::int32_t>(flag), type == DType::float64 ? 1 : 0, r.rule, r.lowest,
                        r.highest});
      }
    };
    (add(crochet::detail::index_of_name(N::view(), T::fetchable), T::template node<N>().dtype), ...);
    return list;
  }

 private:
  template <class Device>
  static Place place_of(const BoundPlan<Device>& plan, std::size_t i) {
    const PlannedValue& v = StoredPlan<T, P>::fetched[i];
    const auto base = static_cast<std::int32_t>(v.base);
    return v.base == Base::placeholders ? Place{0, base + v.number} : Place{plan.fetched[i], base};
  }
};

}  // namespace crochet::cuda
