// SPDX-License-Identifier: Apache-2.0
// Queue: the runs that wait for their launch. All of them are runs of one plan at one size on one workspace.
#pragma once
#include <algorithm>
#include <cstddef>
#include <limits>
#include <memory>
#include <utility>

#include <crochet/executor/cuda/counted_steps.hpp>
#include <crochet/executor/cuda/feed_layout.hpp>
#include <crochet/executor/cuda/settings.hpp>
#include <crochet/executor/cuda/workspace.hpp>
#include <crochet/executor/plan/sizes.hpp>

namespace crochet::cuda {

/// What a launch uses besides its runs (plan_launch.hpp).
template <class Device, class T>
struct LaunchContext;

/// Runs that are launched together. T: the tables of the graph.
template <class Device, class T>
struct QueuedRuns {
  using Memory = WorkspaceMemory<Device, T>;
  /// Launches runs of its plan (plan_launch.hpp). Its address identifies the plan.
  using Launcher = void (*)(const LaunchContext<Device, T>&, const QueuedRuns&);

  Launcher launch = nullptr;
  std::shared_ptr<Memory> memory;
  Dims dims{};
  FeedLayout<T> layout;
  BoundPlan<Device>* plan = nullptr;
  int times = 0;
  std::int64_t first_run = 0;  ///< the number of the first one on its workspace
  StepCount counted_before{};  ///< the global step before the first one
};

/// One at a time: a run that does not fit requires that the queue is taken and launched first.
template <class Device, class T>
class Queue {
 public:
  using Runs = QueuedRuns<Device, T>;

  bool empty() const { return runs_.times == 0; }
  /// The runs of the queue; those of the last add() before it is taken.
  const Runs& runs() const { return runs_; }

  /// Whether a run like `other` may join the queued ones.
  bool fits(const Runs& other) const {
    return !empty() && runs_.launch == other.launch && runs_.memory == other.memory && runs_.dims == other.dims &&
           runs_.layout == other.layout;
  }
  /// Starts an empty queue for at most `most` runs like `first`.
  void start(Runs first, const Settings& settings, int most) {
    runs_ = std::move(first);
    runs_.times = 0;
    most_ = most_runs(most, Runs::Memory::Feeds::bytes_of_run(runs_.layout));
    begun_ = is_timed(settings) ? settings.clock() : 0;
  }
  /// Of an empty queue that was started: the global step.
  void count_from(const StepCount& step) { runs_.counted_before = step; }
  void add() { ++runs_.times; }
  /// The most runs of this launch: fewer than steps_per_launch if their feeds and addresses take more than 64 MiB.
  std::size_t most() const { return most_; }
  /// Whether it must be launched: it is full, or `queue_seconds` old.
  bool is_due(const Settings& settings) const {
    return static_cast<std::size_t>(runs_.times) == most_ ||
           (is_timed(settings) && settings.clock() - begun_ >= settings.queue_seconds);
  }
  /// The runs. The queue is empty afterwards.
  Runs take() { return std::exchange(runs_, {}); }

 private:
  static bool is_timed(const Settings& settings) {
    return settings.queue_seconds < std::numeric_limits<double>::infinity();
  }
  static std::size_t most_runs(int wanted, std::size_t bytes_each) {
    constexpr std::size_t most_bytes = std::size_t{64} << 20;
    constexpr int most = 1 << 16;  // so Settings says
    return std::clamp<std::size_t>(most_bytes / bytes_each, 1, static_cast<std::size_t>(std::clamp(wanted, 1, most)));
  }

  Runs runs_;
  std::size_t most_ = 0;
  double begun_ = 0;  ///< on the clock
};

}  // namespace crochet::cuda
