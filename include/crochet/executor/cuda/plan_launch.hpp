// SPDX-License-Identifier: Apache-2.0
// PlanLaunch: from the queued runs of a plan to one launch.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>

#include <crochet/executor/cuda/launch_feeds.hpp>
#include <crochet/executor/cuda/queue.hpp>
#include <crochet/executor/cuda/step_code.hpp>

namespace crochet::cuda {

/// T: the tables of the graph, P: the plan.
template <class Device, class T, class P>
struct PlanLaunch {
  using Runs = QueuedRuns<Device, T>;

  static void launch(const std::shared_ptr<Device>& device, DeviceVariables<Device, T>& variables, const Runs& runs) {
    const Launch launch = prepare(device, variables, runs);
    device->template launch<PlanCode<P>>(launch);
    runs.memory->feeds.end(*device);
  }

  /// Uploads feeds and addresses.
  static Launch prepare(const std::shared_ptr<Device>& device, DeviceVariables<Device, T>& variables,
                        const Runs& runs) {
    auto& memory = *runs.memory;
    variables.settle_device(device);
    Launch launch{runs.plan->tables};
    launch.bases = memory.feeds.upload(*device, static_cast<std::size_t>(runs.times), runs.layout, variables.data(),
                                       memory.workspace.data());
    launch.base_count = static_cast<std::int32_t>(LaunchFeeds<Device, T>::address_count);
    launch.times = runs.times;
    launch.tables.scratch = reinterpret_cast<unsigned char*>(memory.scratch.data());
    launch.tables.tickets = reinterpret_cast<std::uint32_t*>(memory.tickets.data());
    return launch;
  }
};

}  // namespace crochet::cuda
