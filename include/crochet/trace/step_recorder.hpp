// SPDX-License-Identifier: Apache-2.0
// StepRecorder: a probe that measures the time of each step of a run.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include <crochet/graph/probe/probe.hpp>
#include <crochet/trace/run_trace.hpp>

namespace crochet::trace {

/// A probe (graph/probe/probe.hpp) without watched tensors: the run stays the plain, fused one, with two clock readings
/// around each part of a step.
///   clock       seconds, monotonic; the steady clock
///   wall_clock  seconds since 1970; the system's. Read once, in the constructor
/// - Memory is allocated before the run's first step.
/// - Each member of the team writes its own records.
/// - Cost: about 50 ns per part on the steady clock.
class StepRecorder {
 public:
  using Seconds = std::function<double()>;

  StepRecorder() : StepRecorder(steady, system) {}
  explicit StepRecorder(Seconds clock, const Seconds& wall_clock = system) : clock_(std::move(clock)) {
    run_.epoch = {clock_(), static_cast<std::int64_t>(wall_clock() * 1e6) * 1000};
  }

  void on_run_begin(const ProbedRun& run) {
    complete_ = false;
    stride_ = run.steps.size() + 2;  // the records of two members share no cache line
    index_.assign(run.graph.nodes.size(), 0);
    for (std::size_t k = 0; k < run.steps.size(); ++k) {
      index_[static_cast<std::size_t>(run.steps[k].node)] = static_cast<std::int32_t>(k);
    }
    records_.assign(stride_ * static_cast<std::size_t>(run.members), {});
    describe(run);
    run_.begin = clock_();
  }
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
  void on_run_end() {
    run_.end = clock_();
    collect();
    complete_ = true;
  }

  /// Whether a complete run was recorded since the last call of take().
  [[nodiscard]] bool complete() const { return complete_; }
  /// The last recorded run. Moves its memory out.
  [[nodiscard]] RunTrace take() {
    complete_ = false;
    const Epoch epoch = run_.epoch;
    RunTrace taken = std::exchange(run_, {});
    run_.epoch = epoch;
    return taken;
  }

 private:
  struct Record {
    double begin = 0, end = 0, busy = 0, last = 0;
    std::int32_t calls = 0;
  };

  static double steady() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  }
  static double system() {
    return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  }

  Record& record(std::size_t node, int member) {
    return records_[static_cast<std::size_t>(member) * stride_ + static_cast<std::size_t>(index_[node])];
  }
  void describe(const ProbedRun& run) {
    run_.step = run.step + 1;
    run_.graph = run.graph;
    run_.names = run.node_names;
    run_.dims = run.dims;
    run_.members = run.members;
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
  void collect() {
    run_.parts.clear();
    for (int member = 0; member < run_.members; ++member) {
      for (std::size_t k = 0; k < run_.steps.size(); ++k) {
        const Record& r = records_[static_cast<std::size_t>(member) * stride_ + k];
        if (r.calls == 0) continue;
        run_.parts.push_back({static_cast<std::int32_t>(k), member, r.calls, r.begin, r.end, r.busy});
      }
    }
  }

  Seconds clock_;
  RunTrace run_;
  std::vector<std::int32_t> index_;  // the step of each node
  std::vector<Record> records_;      // by member and step
  std::size_t stride_ = 0;
  bool complete_ = false;
};

}  // namespace crochet::trace
