// SPDX-License-Identifier: Apache-2.0
// LaunchTimes: the times of a probed run's steps that its launch writes itself, on the clock of the device.
#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include <crochet/executor/cuda/memory.hpp>
#include <crochet/executor/cuda/step_times.hpp>
#include <crochet/graph/probe/probe_calls.hpp>
#include <crochet/kernels/cuda/table.hpp>

namespace crochet::cuda {

/// The steps of a run in one launch, as a plain run has them. A step ends where the next one begins: behind the barrier
/// between them, else where the first block of the grid gets there. The launch begins at a mark in the stream.
template <class Device, std::size_t Steps>
class LaunchTimes {
 public:
  template <class Probes>
  LaunchTimes(const std::shared_ptr<Device>& device, DeviceBytes<Device>& memory, const Probes& probes)
      : device_(device), memory_(memory), timed_(begin_device_times(*device, probes)) {}

  /// Before the launch, which writes its times if a due probe takes them.
  void begin(Launch& launch) {
    launch.end_step = static_cast<std::int32_t>(Steps);
    if (!timed_) return;
    memory_.reserve(device_, sizeof(Times), "the times of steps");
    launch.step_times = reinterpret_cast<std::uint64_t*>(memory_.data());
    begin_ = device_->mark();
  }

  /// Waits for the device, then passes each step's times on. Nodes: the node of each step.
  template <const auto& Nodes, class Probes>
  void show(const Probes& probes) const {
    if (!timed_) return;
    Times times;
    device_->download(times.data(), memory_.data(), sizeof times);
    const double origin = device_->seconds_between(0, begin_);
    double last = origin;
    [&]<std::size_t... S>(std::index_sequence<S...>) {
      [[maybe_unused]] const bool done[] = {true, (show_step<S, Nodes>(probes, times, origin, last), true)...};
    }
    (std::make_index_sequence<Steps>{});
  }

 private:
  using Times = std::array<std::uint64_t, Steps + 1>;

  template <std::size_t S, const auto& Nodes, class Probes>
  static void show_step(const Probes& probes, const Times& times, double origin, double& last) {
    constexpr auto node = static_cast<std::size_t>(Nodes[S]);
    const double begin = last;
    last = std::max(last, origin + 1e-9 * static_cast<double>(times[S + 1] - times[0]));
    probes.each([&](auto& probe) { crochet::detail::show_device_times<node>(probe, begin, last); });
  }

  const std::shared_ptr<Device>& device_;
  DeviceBytes<Device>& memory_;
  bool timed_;
  std::size_t begin_ = 0;
};

}  // namespace crochet::cuda
