// SPDX-License-Identifier: Apache-2.0
// The history of a MetricChannel as lists for save_state.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <crochet/base/error.hpp>

namespace crochet::detail {

/// True unless this writer already contains the object. A writer that does not count (testing::StateBox) has one hook.
template <class Out>
bool writes_first(Out& out, const void* object) {
  if constexpr (requires { out.first(object); }) {
    return out.first(object);
  } else {
    return true;
  }
}

/// Metric i has counts[i] consecutive entries of the steps and values.
struct MetricHistory {
  std::vector<std::string> names;
  std::vector<std::int64_t> counts;
  std::vector<std::int64_t> steps;
  std::vector<double> values;

  void add(std::string_view name, const auto& by_step) {
    names.emplace_back(name);
    counts.push_back(static_cast<std::int64_t>(by_step.size()));
    for (const auto& [step, value] : by_step) {
      steps.push_back(step);
      values.push_back(value);
    }
  }
  /// Assigns `map_of(name)[step] = value` for all.
  void for_each(auto map_of) const {
    std::size_t at = 0;
    for (std::size_t i = 0; i < names.size(); ++i) {
      auto& by_step = map_of(names[i]);
      for (const std::size_t end = at + static_cast<std::size_t>(counts[i]); at < end; ++at) {
        by_step[steps[at]] = values[at];
      }
    }
  }

  void save_state(auto& out) const {
    out.put("names", names);
    out.put("counts", counts);
    out.put("steps", steps);
    out.put("values", values);
  }
  /// Empty if nothing was saved.
  static MetricHistory loaded(auto& in) {
    MetricHistory all;
    if (!in.get("names", all.names) || !in.get("counts", all.counts) || !in.get("steps", all.steps) ||
        !in.get("values", all.values)) {
      return {};
    }
    if (!all.fits()) throw DataLossError("crochet: the checkpoint's history of metrics is damaged");
    return all;
  }

 private:
  [[nodiscard]] bool fits() const {
    if (counts.size() != names.size() || steps.size() != values.size()) return false;
    std::uint64_t left = steps.size();
    const bool in_range = std::all_of(counts.begin(), counts.end(), [&](std::int64_t count) {
      if (count < 0 || static_cast<std::uint64_t>(count) > left) return false;
      left -= static_cast<std::uint64_t>(count);
      return true;
    });
    return in_range && left == 0;
  }
};

}  // namespace crochet::detail
