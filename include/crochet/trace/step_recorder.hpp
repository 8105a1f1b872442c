// SPDX-License-Identifier: Apache-2.0
// StepRecorder: a probe that measures the time of each step of a run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include <crochet/base/clock.hpp>
#include <crochet/trace/run_trace.hpp>

namespace crochet::trace {

/// A probe (graph/probe/probe.hpp) without watched tensors: the run stays the plain, fused one, with two clock readings
/// around each part of a step.
///   clock       seconds, monotonic; the steady clock
///   wall_clock  seconds since 1970; the system's. Read once, in the constructor
/// - Memory is allocated before the run's first step.
/// - Each member of the team writes its own records.
/// - On a device (ProbedRun::device) it records the launches, one for each step or one for all, and the times of the
///   steps by the device's own clock. They begin when the host has waited for the device, so they are late by the time
///   of that return.
/// - Cost: about 50 ns per part on the steady clock.
class StepRecorder {
 public:
  StepRecorder() : StepRecorder(Clock{}) {}
  explicit StepRecorder(Clock clock, const std::function<double()>& wall_clock = seconds_since_1970);

  void on_run_begin(const ProbedRun& run);
  template <std::size_t I>
  void on_node_begin(int member) {
    Record& r = record(I, member);
    r.last = clock_();
    if (r.calls++ == 0) r.begin = r.last;
  }
  template <std::size_t I>
  void on_node_end(int member) {
    Record& r = record(I, member);
    r.end = clock_();
    r.busy += r.end - r.last;
  }
  void on_device_begin() { device_begin_ = clock_(); }
  void on_launch_begin() { launch_.begin = clock_(); }
  void on_launch_end() {
    launch_.end = clock_();
    launch_.calls = 1;
  }
  template <std::size_t I>
  void on_node_device_times(double begin, double end) {
    run_.device_parts.push_back({index_[I], -1, 1, device_begin_ + begin, device_begin_ + end, end - begin});
  }
  void on_run_end();

  /// Whether a complete run was recorded since the last call of take().
  [[nodiscard]] bool complete() const { return complete_; }
  /// The last recorded run. Moves its memory out.
  [[nodiscard]] RunTrace take();

 private:
  struct Record {
    double begin = 0, end = 0, busy = 0, last = 0;
    std::int32_t calls = 0;
  };

  Record& record(std::size_t node, int member) {
    return records_[static_cast<std::size_t>(member) * stride_ + static_cast<std::size_t>(index_[node])];
  }
  void describe(const ProbedRun& run);
  void collect();

  Clock clock_;
  RunTrace run_;
  std::vector<std::int32_t> index_;  // the step of each node
  std::vector<Record> records_;      // by member and step
  Record launch_;                    // of all steps together
  std::size_t stride_ = 0;
  double device_begin_ = 0;  // 0 of the device's clock
  bool complete_ = false;
};

}  // namespace crochet::trace

#ifdef CROCHET_HEADER_ONLY
#include <crochet/trace/step_recorder.ipp>
#endif
