// SPDX-License-Identifier: Apache-2.0
// The compiled half of step_recorder.hpp.
#pragma once

#include <crochet/trace/step_recorder.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include <crochet/base/clock.hpp>
#include <crochet/graph/probe/probe.hpp>
#include <crochet/trace/run_trace.hpp>

namespace crochet::trace {

CROCHET_INLINE StepRecorder::StepRecorder(Clock clock, const std::function<double()>& wall_clock)
    : clock_(std::move(clock)) {
  run_.epoch = {clock_(), static_cast<std::int64_t>(wall_clock() * 1e6) * 1000};
}

CROCHET_INLINE void StepRecorder::on_run_begin(const ProbedRun& run) {
  complete_ = false;
  stride_ = run.steps.size() + 2;  // the records of two members share no cache line
  index_.assign(run.graph.nodes.size(), 0);
  for (std::size_t k = 0; k < run.steps.size(); ++k) {
    index_[static_cast<std::size_t>(run.steps[k].node)] = static_cast<std::int32_t>(k);
  }
  records_.assign(stride_ * static_cast<std::size_t>(run.members), {});
  launch_ = {};
  describe(run);
  run_.begin = clock_();
}

CROCHET_INLINE void StepRecorder::on_run_end() {
  run_.end = clock_();
  collect();
  complete_ = true;
}

CROCHET_INLINE RunTrace StepRecorder::take() {
  complete_ = false;
  const Epoch epoch = run_.epoch;
  RunTrace taken = std::exchange(run_, {});
  run_.epoch = epoch;
  return taken;
}

CROCHET_INLINE void StepRecorder::describe(const ProbedRun& run) {
  run_.step = run.step + 1;
  run_.graph = run.graph;
  run_.names = run.node_names;
  run_.dims = run.dims;
  run_.members = run.members;
  run_.device = run.device.name;
  run_.device_number = run.device.number;
  run_.task = run.device.task;
  run_.device_parts.clear();
  run_.device_parts.reserve(run_.device.empty() ? 0 : run.steps.size());
  run_.variable_bytes = run.variable_bytes;
  run_.workspace_bytes = run.workspace_bytes;
  run_.slots.assign(run.slots.begin(), run.slots.end());
  run_.steps.resize(run.steps.size());
  for (std::size_t k = 0; k < run.steps.size(); ++k) {
    const ProbedStep& from = run.steps[k];
    run_.steps[k] = {from.node,  from.region,     {from.nodes.begin(), from.nodes.end()},
                     from.flops, from.bytes_read, from.bytes_written};
  }
}

CROCHET_INLINE void StepRecorder::collect() {
  run_.parts.clear();
  if (launch_.calls > 0) run_.parts.push_back({-1, 0, 1, launch_.begin, launch_.end, launch_.end - launch_.begin});
  for (int member = 0; member < run_.members; ++member) {
    for (std::size_t k = 0; k < run_.steps.size(); ++k) {
      const Record& r = records_[static_cast<std::size_t>(member) * stride_ + k];
      if (r.calls == 0) continue;
      run_.parts.push_back({static_cast<std::int32_t>(k), member, r.calls, r.begin, r.end, r.busy});
    }
  }
}

}  // namespace crochet::trace
