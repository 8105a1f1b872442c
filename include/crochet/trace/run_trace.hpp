// SPDX-License-Identifier: Apache-2.0
// RunTrace: when each step of one run ran, on which thread, and what it worked on. Made by a StepRecorder; timelines,
// tables and native traces are made of it.
#pragma once

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

namespace crochet::trace {

/// A moment of the wall clock and of the clock that measures, taken once: so that times are since 1970 and yet never go
/// backwards.
struct Epoch {
  double clock = 0;          ///< seconds of the clock that measures
  std::int64_t wall_ns = 0;  ///< nanoseconds since 1970, UTC, at that moment

  [[nodiscard]] std::int64_t ns(double time) const { return wall_ns + std::llround((time - clock) * 1e9); }
};

/// What one member of the executor's team did for one step. Times are seconds of the clock that measured.
struct StepPart {
  std::int32_t step = 0;  ///< in RunTrace::steps
  std::int32_t member = 0;
  std::int32_t calls = 0;     ///< more than one: the step is part of a region, which runs slice by slice
  double begin = 0, end = 0;  ///< of the first call, of the last
  double busy = 0;            ///< within calls
};

/// A step, as ProbedStep.
struct TracedStep {
  std::int32_t node = -1;
  std::int32_t region = -1;
  std::vector<std::int32_t> nodes{};
  double flops = 0, bytes_read = 0, bytes_written = 0;
};

/// One run.
struct RunTrace {
  std::int64_t step = 0;  ///< the global step that the run made
  Epoch epoch{};
  double begin = 0, end = 0;  ///< of the executor's run, seconds of the clock
  GraphTable graph{};
  std::span<const std::string_view> names{};  ///< by node
  Dims dims{};                                ///< the dynamic dimensions; 0: not known
  std::vector<TracedStep> steps{};
  std::vector<StepPart> parts{};  ///< those that ran, by member and step
  std::vector<HookPhase> phases{};
  std::vector<ProbedSlot> slots{};
  int members = 1;
  std::size_t variable_bytes = 0, workspace_bytes = 0;
};

/// A part as it is drawn, in nanoseconds since 1970.
struct Slice {
  const StepPart* part = nullptr;
  std::int64_t begin = 0, end = 0;
};

namespace detail {

/// Draws the parts of one region and member one behind the other, each as long as all its calls took.
inline void draw_region(const RunTrace& run, std::span<const StepPart> parts, std::vector<Slice>& slices) {
  double at = parts.front().begin;
  for (const StepPart& part : parts) at = std::min(at, part.begin);
  for (const StepPart& part : parts) {
    slices.push_back({&part, run.epoch.ns(at), run.epoch.ns(at + part.busy)});
    at += part.busy;
  }
}

}  // namespace detail

/// The parts as slices, by their begin. Those of one member do not overlap: the steps of a region, which take turns,
/// are drawn one behind the other. Valid as long as the trace.
inline std::vector<Slice> slices_of(const RunTrace& run) {
  std::vector<Slice> slices;
  const std::span<const StepPart> all(run.parts);
  for (std::size_t i = 0, next = 0; i < all.size(); i = next) {
    const std::int32_t region = run.steps[static_cast<std::size_t>(all[i].step)].region;
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

/// How long each step took, seconds by step: the longest of its members' parts.
inline std::vector<double> seconds_of_steps(const RunTrace& run) {
  std::vector<double> seconds(run.steps.size());
  for (const StepPart& part : run.parts) {
    double& longest = seconds[static_cast<std::size_t>(part.step)];
    longest = std::max(longest, part.busy);
  }
  return seconds;
}

}  // namespace crochet::trace
