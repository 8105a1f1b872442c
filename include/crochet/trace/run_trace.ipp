// SPDX-License-Identifier: Apache-2.0
// The compiled half of run_trace.hpp.
#pragma once

#include <crochet/trace/run_trace.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <crochet/graph/core/shape.hpp>
#include <crochet/graph/probe/probe.hpp>
#include <crochet/hook/phase_log.hpp>

namespace crochet::trace::detail {

/// Draws the parts of one region and member one after another, each with the total time of its calls.
CROCHET_INLINE void draw_region(const RunTrace& run, std::span<const StepPart> parts, std::vector<Slice>& slices) {
  double at = parts.front().begin;
  for (const StepPart& part : parts) at = std::min(at, part.begin);
  for (const StepPart& part : parts) {
    slices.push_back({&part, run.epoch.ns(at), run.epoch.ns(at + part.busy)});
    at += part.busy;
  }
}

}  // namespace crochet::trace::detail

namespace crochet::trace {

CROCHET_INLINE std::vector<Slice> slices_of(const RunTrace& run) {
  std::vector<Slice> slices;
  const std::span<const StepPart> all(run.parts);
  for (std::size_t i = 0, next = 0; i < all.size(); i = next) {
    const std::int32_t region = all[i].step < 0 ? -1 : run.steps[static_cast<std::size_t>(all[i].step)].region;
    const auto same = [&](const StepPart& p) {
      return p.member == all[i].member && region >= 0 && run.steps[static_cast<std::size_t>(p.step)].region == region;
    };
    next = i + 1;
    while (next < all.size() && same(all[next])) ++next;
    if (region >= 0) {
      detail::draw_region(run, all.subspan(i, next - i), slices);
    } else {
      slices.push_back({&all[i], run.epoch.ns(all[i].begin), run.epoch.ns(all[i].end)});
    }
  }
  std::sort(slices.begin(), slices.end(), [](const Slice& a, const Slice& b) {
    return std::tuple(a.begin, a.part->step, a.part->member) < std::tuple(b.begin, b.part->step, b.part->member);
  });
  return slices;
}

CROCHET_INLINE std::vector<Slice> device_slices_of(const RunTrace& run) {
  std::vector<Slice> slices;
  for (const StepPart& part : run.device_parts) {
    slices.push_back({&part, run.epoch.ns(part.begin), run.epoch.ns(part.end)});
  }
  return slices;
}

CROCHET_INLINE std::vector<double> seconds_of_steps(const RunTrace& run) {
  std::vector<double> seconds(run.steps.size());
  for (const StepPart& part : run.device.empty() ? run.parts : run.device_parts) {
    double& longest = seconds[static_cast<std::size_t>(part.step)];
    longest = std::max(longest, part.busy);
  }
  return seconds;
}

}  // namespace crochet::trace
