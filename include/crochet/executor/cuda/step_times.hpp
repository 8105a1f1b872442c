// SPDX-License-Identifier: Apache-2.0
// StepTimes: the times of a probed run's steps that are launched one by one, on the clock of the device.
#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include <crochet/graph/probe/probe_calls.hpp>
#include <crochet/hook/due_probes.hpp>

namespace crochet::cuda {

/// If a due probe observes times of the device: waits for it, marks the origin of the times in its stream, mark 0, and
/// calls on_device_begin. Returns whether one does.
template <class Device, class... P>
bool begin_device_times(Device& device, const DueProbes<P...>& probes) {
  bool timed = false;
  if constexpr ((crochet::detail::takes_device_times<P> || ...)) {
    probes.each([&]<class Q>(Q&) { timed = timed || crochet::detail::takes_device_times<Q>; });
    if (!timed) return false;
    device.start_marks();
    device.synchronize();
    device.mark();
    device.synchronize();
    probes.each([](auto& probe) { crochet::detail::show_device_begin(probe); });
  }
  return timed;
}

/// Marks the device's stream around each launch, if a due probe observes times of the device. The times are read once,
/// behind the last step, so that the steps run one after the other without the host.
template <class Device, std::size_t Steps>
class StepTimes {
 public:
  template <class Probes>
  StepTimes(Device& device, const Probes& probes) : device_(device), timed_(begin_device_times(device, probes)) {}
  void begin(std::size_t step) {
    if (timed_) begins_[step] = device_.mark();
  }
  void end(std::size_t step) {
    if (timed_) ends_[step] = device_.mark();
  }

  /// Waits for the device, then passes each step's times on. Nodes: the node of each step.
  template <const auto& Nodes, class Probes>
  void show(const Probes& probes) const {
    if (!timed_) return;
    device_.synchronize();
    double last = 0;  // times are rounded, and steps do not overlap
    [&]<std::size_t... S>(std::index_sequence<S...>) {
      [[maybe_unused]] const bool done[] = {true, (show_step<S, Nodes>(probes, last), true)...};
    }
    (std::make_index_sequence<Steps>{});
  }

 private:
  template <std::size_t S, const auto& Nodes, class Probes>
  void show_step(const Probes& probes, double& last) const {
    constexpr auto node = static_cast<std::size_t>(Nodes[S]);
    const double begin = std::max(last, device_.seconds_between(0, begins_[S]));
    last = begin + device_.seconds_between(begins_[S], ends_[S]);
    probes.each([&](auto& probe) { crochet::detail::show_device_times<node>(probe, begin, last); });
  }

  Device& device_;
  bool timed_;
  std::array<std::size_t, Steps> begins_{}, ends_{};
};

}  // namespace crochet::cuda
