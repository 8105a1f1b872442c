// SPDX-License-Identifier: Apache-2.0
// RunTrace: when and on which thread each step of one run ran, and its operands. Made by a StepRecorder; the input of
// timelines, tables and native traces.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <crochet/graph/core/shape.hpp>
#include <crochet/graph/probe/probe.hpp>
#include <crochet/hook/phase_log.hpp>

namespace crochet::trace {

/// One moment on the wall clock and on the measuring clock, read once, so that times are since 1970 but monotonic.
struct Epoch {
  double clock = 0;          ///< seconds of the measuring clock
  std::int64_t wall_ns = 0;  ///< nanoseconds since 1970, UTC, at that moment

  [[nodiscard]] std::int64_t ns(double time) const { return wall_ns + std::llround((time - clock) * 1e9); }
};

/// The work of one member of the executor's team, or of a device, for one step. Times are seconds of the measuring
/// clock.
struct StepPart {
  std::int32_t step = 0;      ///< index in RunTrace::steps; -1: all of them, in one launch
  std::int32_t member = 0;    ///< -1: a device
  std::int32_t calls = 0;     ///< more than one: the step is part of a region, which runs slice by slice
  double begin = 0, end = 0;  ///< of the first call, of the last
  double busy = 0;            ///< total time in calls
};

/// A step, see ProbedStep.
struct TracedStep {
  std::int32_t node = -1;
  std::int32_t region = -1;
  std::vector<std::int32_t> nodes{};
  double flops = 0, bytes_read = 0, bytes_written = 0;
};

/// One run.
struct RunTrace {
  std::int64_t step = 0;  ///< the global step after the run
  Epoch epoch{};
  double begin = 0, end = 0;  ///< of the executor's run, seconds of the clock
  GraphTable graph{};
  std::span<const std::string_view> names{};  ///< by node
  Dims dims{};                                ///< the dynamic dimensions; 0: unknown
  std::vector<TracedStep> steps{};
  std::vector<StepPart> parts{};  ///< those that ran, by member and step; on a device: the launches
  std::string device{};           ///< the device that ran the steps, for example "NVIDIA H200, sm_90"; empty: the CPU
  int device_number = 0;
  int task = -1;                         ///< the rank of its process, of several
  std::vector<StepPart> device_parts{};  ///< the steps on the device
  std::vector<HookPhase> phases{};
  std::vector<ProbedSlot> slots{};
  int members = 1;
  std::size_t variable_bytes = 0, workspace_bytes = 0;
};

/// A drawn part, in nanoseconds since 1970.
struct Slice {
  const StepPart* part = nullptr;
  std::int64_t begin = 0, end = 0;
};

/// The parts as slices, sorted by their begin. Those of one member do not overlap: the interleaved steps of a region
/// are drawn one after another. Valid while the trace exists.
std::vector<Slice> slices_of(const RunTrace& run);

/// The steps on the run's device as slices, in order. Valid while the trace exists.
std::vector<Slice> device_slices_of(const RunTrace& run);
/// The steps where they ran: on the device, or on the members of the team. Valid while the trace exists.
inline std::vector<Slice> step_slices_of(const RunTrace& run) {
  return run.device.empty() ? slices_of(run) : device_slices_of(run);
}

/// The name of the step that a part belongs to; "all_steps" for all of them.
inline std::string_view step_name(const RunTrace& run, const StepPart& part) {
  if (part.step < 0) return "all_steps";
  return run.names[static_cast<std::size_t>(run.steps[static_cast<std::size_t>(part.step)].node)];
}

/// The time of each step in seconds: the longest of its members' parts, on a device the time there.
std::vector<double> seconds_of_steps(const RunTrace& run);

}  // namespace crochet::trace

#ifdef CROCHET_HEADER_ONLY
#include <crochet/trace/run_trace.ipp>
#endif
