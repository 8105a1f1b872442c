// SPDX-License-Identifier: Apache-2.0
// DeviceRuns: the runs of an executor on a device, from the queue to what their launch has changed.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <utility>

#include <crochet/executor/cuda/counted_steps.hpp>
#include <crochet/executor/cuda/device_variables.hpp>
#include <crochet/executor/cuda/fed_value.hpp>
#include <crochet/executor/cuda/feed_layout.hpp>
#include <crochet/executor/cuda/plan_launch.hpp>
#include <crochet/executor/cuda/queue.hpp>
#include <crochet/executor/cuda/settings.hpp>
#include <crochet/executor/cuda/value_watch.hpp>
#include <crochet/executor/cuda/workspace.hpp>
#include <crochet/executor/plan/exchanges_of.hpp>
#include <crochet/executor/plan/feed_order.hpp>
#include <crochet/executor/plan/sizes.hpp>

namespace crochet::cuda {

/// The base of an executor. T: the tables of the graph.
template <class Device, class T>
class DeviceRuns {
 protected:
  using Runs = QueuedRuns<Device, T>;
  using Memory = typename Runs::Memory;
  static constexpr int step_node = find_node(T::graph, "global_step");

 public:
  const Settings& settings() const { return settings_; }
  const std::shared_ptr<Device>& device() const { return device_; }

  /// Launches the queued runs, unless a run before them has violated a rule. Runs that are not launched do not count.
  void flush() {
    if (queue_.empty()) return;
    const Runs runs = queue_.take();
    try {
      if (watch_.must_settle_before(runs)) settle_watch();
      if (watch_.skips(*runs.memory)) return counted_.forget();
      runs.launch({device_, variables_, watch_, settings_.mode, settings_.exchange}, runs);
    } catch (...) {
      // As graphs, runs are launched one by one: some of them may be.
      const bool none = settings_.mode != CudaMode::graph || runs.times == 1;
      counted_ = counted_.value() && none ? runs.counted_before : StepCount{};
      throw;
    }
    if (watch_.settle(*device_, false)) note_found();
  }

 protected:
  DeviceRuns(std::shared_ptr<Device> device, const Settings& settings)
      : device_(std::move(device)), settings_(settings) {
    settings_.check();
  }

  /// Adds a run of plan P to the queue.
  template <class P, class D, class... F>
  void enqueue(const std::shared_ptr<Memory>& workspace, const F&... feeds) {
    variables_.host().template settle<P>();
    Dims dims;
    dims.fill(cpu::unknown_dim);
    std::array<FedValue, sizeof...(F)> fed;
    cpu::bind_in_order<T>([&](auto i, const auto& feed) { fed[i] = bind_feed<T>(device_, feed, dims); }, feeds...);
    Memory& memory = *workspace;
    cpu::check_dims<T, P>(dims, memory.dims);
    Runs run{&PlanLaunch<Device, T, P, D>::launch, workspace, dims, FeedLayout<T>::template of<F...>(fed, dims)};
    if (!queue_.fits(run)) start_queue<P>(std::move(run));
    if (!counted_.value() && variables_.written()) counted_.set(step_on_host());
    if (queue_.empty()) queue_.count_from(counted_);
    memory.feeds.add(static_cast<std::size_t>(queue_.runs().times), queue_.runs().layout, fed);
    queue_.add();
    ++memory.runs;
    memory.last_plan = queue_.runs().plan;
    memory.probed_last = cpu::ExchangesOf<T, P>::any;
    memory.skipped_last = watch_.skips(memory);
    counted_.add(step_change<T, P>);
    memory.dims = dims;
    memory.values.template remember<P>(queue_.runs(), static_cast<D*>(nullptr));
  }
  template <class P>
  void start_queue(Runs first) {
    flush();
    Memory& memory = *first.memory;
    first.plan = &memory.template bind<P>(device_, first.dims);
    if (memory.replaces_values(*first.plan)) settle_watch();
    memory.reserve(device_, *first.plan);
    first.first_run = memory.runs;
    queue_.start(std::move(first), settings_, cpu::ExchangesOf<T, P>::any ? 1 : settings_.steps_per_launch);
    memory.feeds.begin(device_, queue_.runs().layout, queue_.most());
  }

  void finish_runs() {
    flush();
    settle_watch();
  }
  void settle_watch() {
    if (watch_.settle(*device_, true)) note_found();
  }
  /// The host has counted the steps of skipped runs; the device has those of the failing run.
  void note_found() {
    counted_.forget();
    if constexpr (step_node >= 0) {
      variables_.read(*device_);
      watch_.set_step(step_on_host());
    }
  }
  /// The step in the host's copy of the variables.
  std::int64_t step_on_host() const {
    if constexpr (step_node < 0) {
      return 0;
    } else {
      return *static_cast<const std::int64_t*>(variables_.host().read(T::variable_index(step_node)));
    }
  }

  std::shared_ptr<Device> device_;
  Settings settings_;
  DeviceVariables<Device, T> variables_;
  Queue<Device, T> queue_;
  ValueWatch<Device, T> watch_;
  mutable StepCount counted_;
};

}  // namespace crochet::cuda
